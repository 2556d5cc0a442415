// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The program that `huddle bench` starts as the ranks of a job: rank 0 reads orders from stdin and
// answers on stdout, see order.h; between orders all of them sleep. Built once for each ABI.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/bench/mpi/ranks/measure.h"
#include "tools/bench/mpi/ranks/shared_state.h"
#include "tools/bench/mpi/ranks/sides.h"
#include "tools/bench/mpi/ranks/work.h"

namespace {

using namespace huddle;
using namespace huddle::bench;
using namespace huddle::bench::ranks;

void say(std::string_view word, const std::string& rest) {
  std::cout << mark << word << ' ' << rest << std::endl;
}

// Each side alone: what a user set for his programs is not meant for this one.
void set_environment(const std::string& machine_file) {
  for (const char* name : {"HUDDLE_VERIFY", "HUDDLE_OPS"}) unsetenv(name);
  if (!machine_file.empty()) setenv("HUDDLE_MACHINE", machine_file.c_str(), 1);
}

// For tests: the MPI against itself, made slower by this factor. 0: it is huddle that is measured.
double twin_factor() {
  const char* text = std::getenv("BENCH_RANKS_TWIN");
  return text == nullptr ? 0 : std::strtod(text, nullptr);
}

// On one line: some count the NUL at its end, or go on for pages about how they were built.
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
  say(word_ready,
      std::to_string(shared.ranks()) + ' ' + (shared.crowded() ? "1 " : "0 ") + version_of(sides));
  lead(sides, shared, meter);
}

}  // namespace

// ranks MPI-LIBRARY BACK-END [MACHINE-FILE]
int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() < 3) {
    std::cerr << "this is a part of huddle bench, which starts it\n";
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
