// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "common/other_processes.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>

#include "common/file.h"
#include "common/system.h"

namespace huddle {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_bytes = 64 * 1024;

class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  // Starts the program with its output redirected to `out`. Returns its process id, or -1.
  pid_t spawn(const std::vector<std::string>& arguments, int out) {
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, out, STDERR_FILENO);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv;
    for (std::string& copy : copies) argv.push_back(copy.data());
    argv.push_back(nullptr);
    pid_t child = -1;
    return posix_spawn(&child, argv[0], &actions_, &attributes_, argv.data(), environ) == 0 ? child
                                                                                            : -1;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Reads until the writer closes the pipe or the time is over. Returns false if the time is over.
bool read_until(int fd, Clock::time_point end, std::string& text) {
  std::array<char, 4096> block{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (text.size() < most_bytes) text.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::optional<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                         std::chrono::milliseconds wait) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const pid_t child = SpawnPlan().spawn(arguments, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return std::nullopt;
  }
  ProgramOutput output;
  output.too_slow = !read_until(ends[0], Clock::now() + wait, output.text);
  ::close(ends[0]);
  // Also kills processes that the program has left behind. The child is reaped only afterwards, so
  // that the id of its process group cannot be reused before the kill.
  ::kill(-child, SIGKILL);
  uninterrupted([&] { return ::waitpid(child, nullptr, 0); });
  return output;
}

// Field 2, the program's name, may contain any character and ends with the last ')' of the line.
std::vector<std::string> fields_behind_name(std::string_view line) {
  const auto name_end = line.rfind(')');
  if (name_end == std::string_view::npos) return {};
  return words(line.substr(name_end + 1));
}

std::optional<ProcessStatus> process_status(std::string_view line) {
  const std::vector<std::string> fields = fields_behind_name(line);
  constexpr std::size_t state = 3 - 3;
  constexpr std::size_t threads = 20 - 3;
  constexpr std::size_t start_time = 22 - 3;
  if (fields.size() <= start_time) return std::nullopt;
  const auto number = [&fields](std::size_t field) {
    return static_cast<std::uint64_t>(whole_number(fields[field]).value_or(0));
  };
  return ProcessStatus{fields[state].front(), number(threads), number(start_time)};
}

namespace {

enum class FileState { of_no_process, alive, zombie, reaped };

// Reads from a descriptor as if it were that of /proc/ID/stat. The application may have closed the
// descriptor of a process and reused its number for a file of its own. Opens no other descriptor:
// there may be none left, and another thread of the application may close it.
FileState state_in_file(int descriptor) {
  std::array<char, 4096> line{};
  const ssize_t bytes =
      uninterrupted([&] { return ::pread(descriptor, line.data(), line.size(), 0); });
  if (bytes < 0) return errno == ESRCH ? FileState::reaped : FileState::of_no_process;
  const auto status = process_status({line.data(), static_cast<std::size_t>(bytes)});
  if (!status) return FileState::of_no_process;
  return status->has_ended() ? FileState::zombie : FileState::alive;
}

int send_nothing(int pidfd) {
  constexpr int no_signal = 0;
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, no_signal, nullptr, 0));
}

// The name of the file decides if a filter of system calls refuses the signal.
bool is_pidfd(int descriptor) {
  if (send_nothing(descriptor) == 0 || errno == ESRCH) return true;
  if (errno == EBADF) return false;
  std::array<char, 64> name{};
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t bytes = ::readlink(path.c_str(), name.data(), name.size());
  return bytes > 0 &&
         std::string_view(name.data(), static_cast<std::size_t>(bytes)).find("pidfd") !=
             std::string_view::npos;
}

// A folder of a process may be invisible (hidepid) or missing (/proc of another PID namespace).
int error_without_folder(pid_t process) {
  return ::kill(process, 0) != 0 && errno == ESRCH ? ESRCH : EACCES;
}

}  // namespace

FileDescriptor open_process(pid_t process) {
  FileDescriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  // Some filters refuse unknown system calls with EPERM.
  if (pidfd.is_open() || (errno != ENOSYS && errno != EPERM)) return pidfd;
  const std::string folder = process == ::getpid() ? "self" : std::to_string(process);
  FileDescriptor file(::open(("/proc/" + folder + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) errno = error_without_folder(process);
  return file;
}

// poll() returns POLLIN for the pidfd of a dead process, and always for a file.
bool is_dead(int descriptor) {
  if (descriptor < 0) return false;
  pollfd watched{descriptor, POLLIN, 0};
  const int found = uninterrupted([&] { return ::poll(&watched, 1, 0); });
  if (found != 1 || (watched.revents & POLLIN) == 0) return false;
  const FileState state = state_in_file(descriptor);
  if (state == FileState::of_no_process) return is_pidfd(descriptor);
  return state != FileState::alive;
}

// Signal 0 only checks whether the process exists. If that is not permitted (a system call filter,
// or a process that has changed its user), a dead process is assumed to have lost its id.
bool has_lost_number(int descriptor) {
  if (descriptor < 0 || send_nothing(descriptor) == 0) return false;
  if (errno == ESRCH) return true;
  const FileState state = state_in_file(descriptor);
  return state == FileState::of_no_process ? is_dead(descriptor) : state == FileState::reaped;
}

}  // namespace huddle
