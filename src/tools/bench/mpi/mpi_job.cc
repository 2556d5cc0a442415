// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/mpi/mpi_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/other_processes.h"
#include "common/system.h"
#include "tools/bench/mpi/timed_run.h"
#include "tools/launch/launcher.h"
#include "tools/launch/program.h"

namespace huddle::bench {
namespace {

namespace fs = std::filesystem;

// A launcher on a slow file system needs a second or two to print its version.
constexpr std::chrono::milliseconds version_wait{10000};

// Names of launchers, in the order in which they are searched for.
constexpr std::array<std::string_view, 3> launcher_names = {"mpirun", "mpiexec", "srun"};

// Names of the folders that bench/peers creates, one per MPI.
constexpr std::array<std::string_view, 5> peer_names = {"openmpi-4", "openmpi-5", "mpich-4",
                                                        "mpich-5", "intel"};

// Folders relative to a launcher: those of an installation, and that of a virtual environment next
// to a launcher script.
constexpr std::array<std::string_view, 4> library_folders = {"../lib", "../lib64", "../lib/release",
                                                             "venv/lib"};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<std::string> names_of_library(const std::string& family) {
  if (family == "Open MPI" || family == "PRRTE") return {"libmpi.so.40"};
  if (family == "Slurm") return {};
  return {"libmpi.so.12", "libmpich.so.12"};
}

std::string library_of(const std::string& launcher, const std::vector<std::string>& names) {
  for (const std::string& link : launch::along_links(launcher)) {
    for (const std::string_view folder : library_folders) {
      for (const std::string& name : names) {
        const fs::path file = (fs::path(link).parent_path() / folder / name).lexically_normal();
        if (is_there(file)) return file.string();
      }
    }
  }
  return fmt::format("{}", fmt::join(names, ":"));
}

std::string abi_of(const std::string& library) {
  const std::string name = fs::path(library).filename().string();
  if (name.starts_with("libmpi_abi")) return "mpi_abi";
  return name.find(".so.40") != std::string::npos ? "openmpi" : "mpich";
}

// Returns the version of a launcher, or of the launcher that a script starts.
std::optional<doctor::MpiVersion> version_of(const std::string& launcher) {
  if (const auto known = launch::find_launcher(launcher)) return launch::version_of(*known);
  const auto output = run_program({launcher, "--version"}, version_wait);
  return output ? launch::launcher_from(launcher, "mpiexec", output->text).version : std::nullopt;
}

std::string first_launcher(const std::string& search_path) {
  for (const std::string_view name : launcher_names) {
    if (const auto path = launch::find_program(std::string(name), search_path)) return *path;
  }
  throw UsageError(
      "no MPI found: mpirun is not in PATH. Load or install an MPI, name its launcher with --mpi, "
      "or run huddle bench engine, which needs no MPI");
}

Mpi mpi_behind(std::vector<std::string> command, const std::string& library,
               const std::string& search_path) {
  const auto path = launch::find_program(command.front(), search_path);
  if (!path) throw UsageError(launch::why_not_found(command.front()));
  command.front() = *path;
  const auto version = version_of(*path);
  if (!version) {
    throw UsageError(fmt::format("{} is not a known MPI launcher", *path));
  }
  Mpi mpi{.name = fmt::format("{} {}", version->family, version->version),
          .launcher = command,
          .library = library,
          .abi = {}};
  if (library.empty()) mpi.library = library_of(*path, names_of_library(version->family));
  if (mpi.library.empty()) {
    throw UsageError(fmt::format(
        "{} starts programs of any MPI: name the library of the MPI to measure with --mpi-library",
        *path));
  }
  mpi.abi = abi_of(mpi.library);
  return mpi;
}

}  // namespace

Mpi find_mpi(const std::string& launcher, const std::string& library,
             const std::string& search_path) {
  std::vector<std::string> command = words(launcher);
  if (command.empty()) command = {first_launcher(search_path)};
  return mpi_behind(std::move(command), library, search_path);
}

std::vector<Mpi> find_peers(const std::string& folder) {
  std::vector<Mpi> peers;
  for (const std::string_view name : peer_names) {
    const fs::path run = fs::absolute(fs::path(folder) / name / "run");
    if (!is_there(run)) continue;
    peers.push_back(mpi_behind({run.string()}, "", ""));
    peers.back().name = name;
  }
  if (!peers.empty()) return peers;
  throw UsageError(
      fmt::format("{} contains no MPI; install MPIs there with bench/peers {}", folder, folder));
}

namespace {

using Clock = std::chrono::steady_clock;

// An order takes seconds, or up to a minute if the ranks of an MPI wait badly on few cores.
constexpr std::chrono::seconds answer_wait{180};
constexpr int farewell_ms = 5000;
constexpr int slice_ms = 100;  // between two checks of the stop request
constexpr std::size_t kept_lines = 12;

// Permits more ranks than cores, and running as root. Both are the user's decision.
constexpr std::array<const char*, 4> launcher_settings = {
    "OMPI_MCA_rmaps_base_oversubscribe=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
    "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};

// Returns the environment of the job. If a name occurs several times, its first entry takes effect.
std::vector<std::string> environment_of(const JobOptions& job_options) {
  std::vector<std::string> lines = job_options.environment;
  lines.insert(lines.end(), launcher_settings.begin(), launcher_settings.end());
  for (char** line = environ; *line != nullptr; ++line) lines.emplace_back(*line);
  return lines;
}

// Sockets instead of pipes, because writing to a job that has ended then returns an error instead
// of raising SIGPIPE.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw FailureError(fmt::format("cannot create a socket: {}", std::strerror(errno)));
    }
    out = ends[0];
    in = ends[1];
  }
  int out;
  int in;
};

}  // namespace

Job::Job(Mpi mpi, const JobOptions& job_options, const std::atomic<bool>& stop)
    : mpi_(std::move(mpi)), stop_(stop) {
  start(job_options);
  wait_until_ready();
}

Job::~Job() {
  ::close(to_job_);
  if (process_ > 0 && !has_ended(farewell_ms)) {
    kill(-process_, SIGTERM);
    if (!has_ended(farewell_ms)) {
      kill(-process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  ::close(from_job_);
}

void Job::start(const JobOptions& job_options) {
  std::vector<std::string> words = mpi_.launcher;
  words.insert(words.end(), {"-n", std::to_string(job_options.ranks)});
  words.insert(words.end(), job_options.rank_prefix.begin(), job_options.rank_prefix.end());
  for (const std::string& word :
       {fmt::format("{}/huddle-bench-{}", job_options.programs, mpi_.abi), mpi_.library,
        job_options.with_huddle ? fmt::format("{}/libhuddle_{}.so", job_options.programs, mpi_.abi)
                                : std::string(no_back_end),
        job_options.machine_file}) {
    if (!word.empty()) words.push_back(word);
  }
  const Pipe to;
  const Pipe from;
  to_job_ = to.in;
  from_job_ = from.out;
  process_ =
      spawn({.program = words.front(), .words = words, .environment = environment_of(job_options)},
            to.out, from.in);
  ::close(to.out);
  ::close(from.in);
}

bool Job::has_ended(int milliseconds) {
  for (int waited = 0; waited <= milliseconds; waited += slice_ms) {
    if (waitpid(process_, nullptr, WNOHANG) != 0) return true;
    read_more(slice_ms);
  }
  return false;
}

void Job::fail(const std::string& why) {
  std::string said =
      noise_.empty() ? "" : fmt::format("; its output: {}", fmt::join(noise_, " | "));
  throw FailureError(fmt::format("{}: {}{}", mpi_.name, why, said));
}

// Waits for output of the job and stores it. Returns false once the job has closed its output.
bool Job::read_more(int milliseconds) {
  pollfd watched{from_job_, POLLIN, 0};
  if (poll(&watched, 1, milliseconds) <= 0) return true;
  std::array<char, 65536> block{};
  const ssize_t got = ::read(from_job_, block.data(), block.size());
  if (got > 0) unread_.append(block.data(), static_cast<std::size_t>(got));
  if (got == 0) usleep(1000);
  return got > 0 || (got < 0 && errno == EINTR);
}

// Reads the next line with the mark. Returns its first word and stores the remainder in `rest`.
std::string Job::next_word(std::string& rest) {
  const auto end = Clock::now() + answer_wait;
  while (true) {
    const std::size_t newline = unread_.find('\n');
    if (newline == std::string::npos) {
      if (!read_more(slice_ms)) fail("the job ended early");
      if (Clock::now() > end) fail("the job does not answer");
      if (stop_.load()) throw Stopped();
      continue;
    }
    std::string line = unread_.substr(0, newline);
    unread_.erase(0, newline + 1);
    const std::size_t begin = line.find(mark);
    if (begin == std::string::npos) {
      noise_.push_back(line);
      if (noise_.size() > kept_lines) noise_.pop_front();
      continue;
    }
    std::istringstream words(line.substr(begin + mark.size()));
    std::string word;
    words >> word;
    std::getline(words >> std::ws, rest);
    if (word == word_failed) fail(rest);
    return word;
  }
}

void Job::wait_until_ready() {
  std::string rest;
  if (next_word(rest) != word_ready) fail("the job sent an unexpected answer");
  std::istringstream words(rest);
  int ranks = 0;
  words >> ranks >> oversubscribed_;
  std::getline(words >> std::ws, version_);
}

Answer Job::carry_out(const Order& order) {
  const std::string line = text(order) + '\n';
  if (send(to_job_, line.data(), line.size(), MSG_NOSIGNAL) < 0) fail("the job ended early");
  Answer answer;
  std::string rest;
  for (std::string word = next_word(rest); word != word_done; word = next_word(rest)) {
    std::istringstream words(rest);
    if (word == word_passed) {
      unsigned long passed = 0;
      words >> passed;
      answer.passed += passed;
      continue;
    }
    if (word == word_choice) {
      Choice choice;
      words >> choice.predicted_ns >> choice.algorithm;
      std::getline(words >> std::ws, choice.parameters);
      answer.choices.push_back(std::move(choice));
      continue;
    }
    std::string side;
    words >> side;
    if (word == word_wrong) {
      fail(fmt::format("{}{} of {} bytes in {} returned wrong data",
                       order.mockup == Mockup::none ? "" : "a mock-up of ", name(order.operation),
                       order.bytes, side == name(Side::huddle) ? "huddle" : "the MPI"));
    }
    Answer::Batch batch{side == name(Side::huddle) ? Side::huddle : Side::native, {}};
    for (double ns = 0; words >> ns;) batch.ns.push_back(ns);
    answer.batches.push_back(std::move(batch));
  }
  return answer;
}

}  // namespace huddle::bench
