// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "tools/bench/mpi/spawn.h"

namespace huddle::bench {
namespace {

using Clock = std::chrono::steady_clock;

// An order takes seconds at most; where MPIs wait for each other badly on few cores, a minute.
constexpr std::chrono::seconds answer_wait{180};
constexpr int farewell_ms = 5000;
constexpr int slice_ms = 100;  // between two looks at the request to stop
constexpr std::size_t kept_lines = 12;

// More ranks than cores is what one may ask for here; and whoever runs this as root has decided so.
constexpr std::array<const char*, 4> launcher_settings = {
    "OMPI_MCA_rmaps_base_oversubscribe=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
    "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};

// The first of a name counts.
std::vector<std::string> environment_of(const JobOptions& job_options) {
  std::vector<std::string> lines = job_options.environment;
  lines.insert(lines.end(), launcher_settings.begin(), launcher_settings.end());
  for (char** line = environ; *line != nullptr; ++line) lines.emplace_back(*line);
  return lines;
}

// Sockets in place of pipes: to write to a job that is gone is then an error and no signal.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw FailureError(fmt::format("cannot make a socket: {}", std::strerror(errno)));
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
  std::string said = noise_.empty() ? "" : fmt::format("; it said: {}", fmt::join(noise_, " | "));
  throw FailureError(fmt::format("{}: {}{}", mpi_.name, why, said));
}

// False: nothing more will come.
bool Job::read_more(int milliseconds) {
  pollfd watched{from_job_, POLLIN, 0};
  if (poll(&watched, 1, milliseconds) <= 0) return true;
  std::array<char, 65536> block{};
  const ssize_t got = ::read(from_job_, block.data(), block.size());
  if (got > 0) unread_.append(block.data(), static_cast<std::size_t>(got));
  if (got == 0) usleep(1000);
  return got > 0 || (got < 0 && errno == EINTR);
}

// The first word of the next line that is ours, and what follows it.
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
  if (next_word(rest) != word_ready) fail("the job does not answer as it should");
  std::istringstream words(rest);
  int ranks = 0;
  words >> ranks >> crowded_;
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
      fail(fmt::format("{} of {} bytes by {} gave wrong data", name(order.operation), order.bytes,
                       side == name(Side::huddle) ? "huddle" : "the MPI"));
    }
    Answer::Batch batch{side == name(Side::huddle) ? Side::huddle : Side::native, {}};
    for (double ns = 0; words >> ns;) batch.ns.push_back(ns);
    answer.batches.push_back(std::move(batch));
  }
  return answer;
}

}  // namespace huddle::bench
