// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The program that `huddle bench` starts as the ranks of a job. Rank 0 reads orders from stdin and
// answers on stdout (see order.h); between orders all ranks sleep. It is built once for each ABI.

#include <sys/prctl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/bench/mpi/ranks/sides.h"
#include "tools/bench/mpi/ranks/work.h"

namespace huddle::bench::ranks {

// The times of one batch of stretches, from since_last_in() or mean_of_ranks().
struct Batch {
  Side side = Side::native;
  std::vector<std::int64_t> ns;  // per stretch; on rank 0 only
  unsigned long passed = 0;      // calls that fell back to the MPI, on rank 0
};

class Meter {
 public:
  // `slower`: factor by which huddle's stretches are prolonged, for tests.
  Meter(const SharedState& shared, Work& work, double slower)
      : shared_(shared), work_(work), slower_(slower) {}

  // Collective. Runs batches of both sides in turns.
  std::vector<Batch> carry_out(const Order& order);

 private:
  Batch batch(const Order& order, Side side);
  Batch first_calls(const Order& order, Side side);
  void warm_up(const Order& order, Side side);
  std::int64_t stretch(Side side, Timing timing);
  std::int64_t since_last_in() const;
  std::int64_t mean_of_ranks() const;
  void linger();
  void judge(Side side, bool right);

  const SharedState& shared_;
  Work& work_;
  double slower_;
};

namespace {

// Returns the time of a clock that all processes of a node share.
std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::int64_t Meter::since_last_in() const {
  std::int64_t last_in = 0;
  std::int64_t last_out = 0;
  for (int rank = 0; rank < shared_.ranks(); ++rank) {
    last_in = std::max(last_in, shared_.slot(rank).in_ns.load(std::memory_order_relaxed));
    last_out = std::max(last_out, shared_.slot(rank).out_ns.load(std::memory_order_relaxed));
  }
  return last_out - last_in;
}

// Returns the mean time of the ranks, which OSU's programs print.
std::int64_t Meter::mean_of_ranks() const {
  std::int64_t sum = 0;
  for (int rank = 0; rank < shared_.ranks(); ++rank) {
    sum += shared_.slot(rank).out_ns.load(std::memory_order_relaxed) -
           shared_.slot(rank).in_ns.load(std::memory_order_relaxed);
  }
  return sum / shared_.ranks();
}

// Prolongs a stretch by the factor `slower_`. Waits at two barriers, because the ranks replace the
// times: all have to read the old ones first, and all have to write new ones before any reads them.
void Meter::linger() {
  const std::int64_t lasted = since_last_in();
  std::int64_t last_out = 0;
  for (int rank = 0; rank < shared_.ranks(); ++rank) {
    last_out = std::max(last_out, shared_.slot(rank).out_ns.load(std::memory_order_relaxed));
  }
  shared_.head().barrier.wait();
  const auto until =
      last_out + static_cast<std::int64_t>((slower_ - 1) * static_cast<double>(lasted));
  shared_.mine().out_ns.store(until, std::memory_order_relaxed);
  while (now_ns() < until) {
  }
  shared_.head().barrier.wait();
}

std::int64_t Meter::stretch(Side side, Timing timing) {
  Slot& mine = shared_.mine();
  bench::HarnessBarrier& barrier = shared_.head().barrier;
  barrier.wait();
  mine.in_ns.store(now_ns(), std::memory_order_relaxed);
  work_.carry_out(side);
  mine.out_ns.store(now_ns(), std::memory_order_relaxed);
  barrier.wait();
  if (side == Side::huddle && slower_ > 1) linger();
  return timing == Timing::osu ? mean_of_ranks() : since_last_in();
}

void Meter::judge(Side side, bool right) {
  if (!right) shared_.head().wrong[static_cast<std::size_t>(side)].store(true);
}

void Meter::warm_up(const Order& order, Side side) {
  work_.prepare();
  if (order.operation == Operation::barrier) {
    judge(side, work_.is_right_barrier(side));
  } else {
    stretch(side, order.timing);
    judge(side, work_.is_right());
  }
}

// Times the first calls on a new communicator, without a warm-up. Does not count fallback calls,
// because the set-up of a communicator also calls the MPI.
Batch Meter::first_calls(const Order& order, Side side) {
  work_.use_new_communicator();
  work_.prepare();
  Batch batch{.side = side, .ns = {}};
  const std::int64_t ns = stretch(side, order.timing);
  judge(side, work_.is_right());
  if (shared_.rank() == 0) batch.ns.push_back(ns);
  shared_.head().barrier.wait();
  return batch;
}

Batch Meter::batch(const Order& order, Side side) {
  Batch batch{.side = side, .ns = {}};
  Head& head = shared_.head();
  warm_up(order, side);
  // Count from here because team set-up on a communicator calls the MPI.
  const unsigned long passed_before = passed_calls();
  const std::int64_t end = now_ns() + order.limit_ns;
  head.barrier.wait();
  bool goes_on = true;
  for (int done = 0; goes_on && done < order.stretches; ++done) {
    if (order.timing == Timing::apart) work_.prepare();
    const std::int64_t ns = stretch(side, order.timing);
    judge(side, work_.is_right());
    if (shared_.rank() == 0) {
      batch.ns.push_back(ns);
      head.goes_on.store(now_ns() < end, std::memory_order_relaxed);
    }
    head.barrier.wait();
    goes_on = head.goes_on.load(std::memory_order_relaxed);
  }
  head.barrier.wait();
  batch.passed = passed_calls() - passed_before;
  return batch;
}

std::vector<Batch> Meter::carry_out(const Order& order) {
  work_.begin(order);
  std::vector<Batch> batches;
  for (int round = 0; round < order.rounds; ++round) {
    const bool huddle_first = order.huddle_first != (round % 2 != 0);
    for (const bool second : {false, true}) {
      const Side side = huddle_first != second ? Side::huddle : Side::native;
      const bool wanted = side == Side::huddle ? order.huddle : order.native;
      if (!wanted) continue;
      batches.push_back(order.timing == Timing::cold ? first_calls(order, side)
                                                     : batch(order, side));
    }
  }
  return batches;
}

}  // namespace huddle::bench::ranks

namespace {

using namespace huddle;
using namespace huddle::bench;
using namespace huddle::bench::ranks;

void say(std::string_view word, const std::string& rest) {
  std::cout << mark << word << ' ' << rest << std::endl;
}

// Removes settings that the user made for other programs and that would affect the comparison.
void set_environment(const std::string& machine_file) {
  for (const char* name : {"HUDDLE_VERIFY", "HUDDLE_OPS"}) unsetenv(name);
  if (!machine_file.empty()) setenv("HUDDLE_MACHINE", machine_file.c_str(), 1);
}

// Returns 0 if huddle is measured. In tests, returns the factor by which the MPI is slowed down
// when it is compared with itself.
double twin_factor() {
  const char* text = std::getenv("BENCH_RANKS_TWIN");
  return text == nullptr ? 0 : std::strtod(text, nullptr);
}

// Returns the version on one line. Some MPIs count the final NUL or add pages about their build.
std::string version_of(const Sides& sides) {
  std::string version(mpi::max_library_version_string, '\0');
  int length = 0;
  sides.service.get_library_version(version.data(), &length);
  version.resize(std::min(version.find_first_of(std::string("\0\n\r", 3)), version.size()));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version.substr(0, version.find_last_not_of(' ') + 1);
}

void answer(const SharedState& shared, const std::vector<Batch>& batches) {
  for (const Batch& batch : batches) {
    std::string line(name(batch.side));
    for (const auto ns : batch.ns) line += ' ' + std::to_string(ns);
    say(word_batch, line);
    if (batch.side == Side::huddle && batch.passed > 0) {
      say(word_passed, std::to_string(batch.passed));
    }
  }
  for (const Side side : {Side::native, Side::huddle}) {
    if (shared.head().wrong[static_cast<std::size_t>(side)].load()) {
      say(word_wrong, std::string(name(side)));
    }
  }
  say(word_done, "");
}

void explain(const Sides& sides, const Order& order, int ranks) {
  std::array<char, 65536> text{};
  const select::Request request = request_of(order.operation, order.bytes, ranks);
  const std::size_t length =
      sides.choices(&sides.world, static_cast<int>(request.operation), request.bytes,
                    request.element_bytes, text.data(), text.size());
  std::istringstream lines(std::string(text.data(), length));
  for (std::string line; std::getline(lines, line);) say(word_choice, line);
}

void lead(const Sides& sides, SharedState& shared, Meter& meter) {
  for (std::string line; std::getline(std::cin, line);) {
    Order order;
    if (!read(line, order)) break;
    shared.give(order);
    const std::vector<Batch> batches = meter.carry_out(order);
    if (order.explain) explain(sides, order, shared.ranks());
    answer(shared, batches);
  }
  shared.end();
}

void follow(SharedState& shared, Meter& meter) {
  for (Order order; shared.take(order);) meter.carry_out(order);
}

void measure(Sides& sides) {
  const double twin = twin_factor();
  if (twin > 0) {
    sides.of[static_cast<std::size_t>(Side::huddle)] = sides.side(Side::native);
  }
  SharedState shared(sides);
  Work work(sides, shared);
  Meter meter(shared, work, twin);
  if (shared.rank() != 0) return follow(shared, meter);
  say(word_ready, std::to_string(shared.ranks()) + ' ' + (shared.oversubscribed() ? "1 " : "0 ") +
                      version_of(sides));
  lead(sides, shared, meter);
}

}  // namespace

// Usage: ranks MPI-LIBRARY BACK-END [MACHINE-FILE]
int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() < 3) {
    std::cerr << "this program is a part of huddle bench; run 'huddle bench' instead\n";
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_environment(words.size() > 3 ? words[3] : "");
  try {
    Sides sides = open_sides(words[1], words[2]);
    if (sides.service.init(&argc, &argv) != mpi::success) return 1;
    try {
      measure(sides);
    } catch (const std::exception& error) {
      say(word_failed, error.what());
      sides.service.abort(sides.world, 1);
    }
    sides.service.finalize();
  } catch (const std::exception& error) {
    say(word_failed, error.what());
    return 1;
  }
  return 0;
}
