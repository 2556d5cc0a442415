// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/siblings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "common/file.h"
#include "common/unix_socket.h"

namespace huddle::doctor {
namespace {

// The two processes need about a millisecond. This limit allows for an overloaded machine.
constexpr int patience_ms = 5000;

using Block = std::array<char, 64>;
constexpr Block owners_words = {"what the owner wrote"};

// Message from the owner to the reader. The descriptor itself is ancillary data.
struct Offer {
  pid_t owner = 0;
  int descriptor = -1;
  const void* address = nullptr;
  int memfd_error = 0;
};

// A child process that is killed when this object is destroyed.
class Child {
 public:
  explicit Child(const std::function<void()>& body) : pid_(::fork()) {
    if (pid_ < 0) {
      throw ProbeError("cannot start a process", errno);
    }
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      body();
    } catch (...) {
      ::_exit(1);  // the child must never continue with the caller's code
    }
    ::_exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    uninterrupted([&] { return ::waitpid(pid_, nullptr, 0); });
  }

 private:
  pid_t pid_;
};

void send_offer(const FileDescriptor& socket, const Offer& offer) {
  const std::span<const int> descriptor(&offer.descriptor, offer.descriptor < 0 ? 0 : 1);
  send_message(socket, std::as_bytes(std::span(&offer, 1)), descriptor);
}

struct Received {
  Offer offer;
  FileDescriptor descriptor;
};

Received receive_offer(const FileDescriptor& socket) {
  Received received;
  ReceivedMessage message =
      receive_message(socket, std::as_writable_bytes(std::span(&received.offer, 1)));
  if (!message.descriptors.empty()) received.descriptor = std::move(message.descriptors.front());
  return received;
}

// The owner lives until the parent ends it, so that no pidfd is needed.
int try_memory_read(const Offer& offer, const single_copy::PeerPath& path) {
  Block copy{};
  const auto memory = single_copy::open(path, {.process = offer.owner});
  const single_copy::ErrorNumber error =
      memory->read(reinterpret_cast<std::byte*>(copy.data()),
                   reinterpret_cast<std::uintptr_t>(offer.address), copy.size());
  if (error != single_copy::fine) return error;
  return copy == owners_words ? 0 : EIO;
}

// Returns 0 if the descriptor can be mapped and contains what the owner wrote; otherwise an errno.
int try_descriptor(int fd) {
  if (fd < 0) return errno;
  Block copy{};
  void* const mapped = ::mmap(nullptr, copy.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return errno;
  std::memcpy(copy.data(), mapped, copy.size());
  ::munmap(mapped, copy.size());
  return copy == owners_words ? 0 : EIO;
}

int try_proc(const Offer& offer) {
  const std::string path = fmt::format("/proc/{}/fd/{}", offer.owner, offer.descriptor);
  const FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return try_descriptor(fd.number());
}

int system_call_result(long result) { return static_cast<int>(result); }

int try_pidfd(const Offer& offer) {
  const FileDescriptor process(system_call_result(::syscall(SYS_pidfd_open, offer.owner, 0)));
  if (process.number() < 0) return errno;
  const FileDescriptor fd(
      system_call_result(::syscall(SYS_pidfd_getfd, process.number(), offer.descriptor, 0)));
  return try_descriptor(fd.number());
}

void be_owner(const FileDescriptor& socket, const SiblingOptions& options) {
  if (options.prepare != nullptr) options.prepare();
  if (options.allow_tracers) ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const Block words = owners_words;
  Offer offer{.owner = ::getpid(), .address = words.data()};
  offer.descriptor = ::memfd_create("huddle-doctor", MFD_CLOEXEC);
  if (offer.descriptor < 0 || ::pwrite(offer.descriptor, words.data(), words.size(), 0) < 0) {
    offer.memfd_error = errno;
  }
  send_offer(socket, offer);
  // Waits until the reader has ended, which closes its end of the socket.
  char nothing = 0;
  uninterrupted([&] { return ::read(socket.number(), &nothing, 1); });
}

// The reader's answer is a single message with one number per attempt.
constexpr std::size_t descriptor_attempts = 3;
std::vector<int> numbers_of(const SiblingResults& results) {
  std::vector<int> numbers = {results.descriptor_by_socket, results.descriptor_by_proc,
                              results.descriptor_by_pidfd};
  numbers.insert(numbers.end(), results.memory_reads.begin(), results.memory_reads.end());
  return numbers;
}
SiblingResults results_of(const std::vector<int>& numbers) {
  return {
      numbers[0], numbers[1], numbers[2], {numbers.begin() + descriptor_attempts, numbers.end()}};
}

void be_reader(const FileDescriptor& socket, const FileDescriptor& answer,
               const SiblingOptions& options) {
  if (options.prepare != nullptr) options.prepare();
  const Received received = receive_offer(socket);
  if (received.offer.owner == 0) return;
  SiblingResults results;
  for (const single_copy::PeerPath& path : options.paths) {
    results.memory_reads.push_back(try_memory_read(received.offer, path));
  }
  if (received.offer.memfd_error != 0) {
    results.descriptor_by_socket = received.offer.memfd_error;
    results.descriptor_by_proc = received.offer.memfd_error;
    results.descriptor_by_pidfd = received.offer.memfd_error;
  } else {
    errno = EBADF;
    results.descriptor_by_socket = try_descriptor(received.descriptor.number());
    results.descriptor_by_proc = try_proc(received.offer);
    results.descriptor_by_pidfd = try_pidfd(received.offer);
  }
  const std::vector<int> numbers = numbers_of(results);
  const std::size_t bytes = numbers.size() * sizeof(int);
  if (::write(answer.number(), numbers.data(), bytes) != static_cast<ssize_t>(bytes)) ::_exit(1);
}

SiblingResults wait_for_answer(int answer, std::size_t paths) {
  pollfd waiting{answer, POLLIN, 0};
  const int ready = uninterrupted([&] { return ::poll(&waiting, 1, patience_ms); });
  std::vector<int> numbers(descriptor_attempts + paths);
  const std::size_t bytes = numbers.size() * sizeof(int);
  if (ready <= 0 || ::read(answer, numbers.data(), bytes) != static_cast<ssize_t>(bytes)) {
    throw FailureError("two processes started for this check did not answer");
  }
  return results_of(numbers);
}

}  // namespace

SiblingResults probe_siblings(const SiblingOptions& options) {
  std::array<int, 2> between{};
  std::array<int, 2> answer{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, between.data()) != 0) {
    throw ProbeError("cannot create a socket pair", errno);
  }
  FileDescriptor owners_end(between[0]);
  FileDescriptor readers_end(between[1]);
  if (::pipe2(answer.data(), O_CLOEXEC) != 0) {
    throw ProbeError("cannot create a pipe", errno);
  }
  const FileDescriptor answer_out(answer[0]);
  FileDescriptor answer_in(answer[1]);
  const Child owner([&] {
    readers_end.close();
    be_owner(owners_end, options);
  });
  const Child reader([&] {
    owners_end.close();
    be_reader(readers_end, answer_in, options);
  });
  owners_end.close();
  readers_end.close();
  answer_in.close();
  return wait_for_answer(answer_out.number(), options.paths.size());
}

}  // namespace huddle::doctor
