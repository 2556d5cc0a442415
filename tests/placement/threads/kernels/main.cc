// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs one kernel: thread-kernels NAME SECONDS. With 0 seconds it executes ten steps. The exit
// status is 1 if the result is wrong.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernel.h"

namespace huddle::kernels {
namespace {

using Make = std::unique_ptr<Kernel> (*)();
constexpr std::array<std::pair<std::string_view, Make>, 7> known = {{{"sp", make_sp},
                                                                     {"lu", make_lu},
                                                                     {"ft", make_ft},
                                                                     {"ep", make_ep},
                                                                     {"is", make_is},
                                                                     {"cg", make_cg},
                                                                     {"mg", make_mg}}};

std::unique_ptr<Kernel> kernel_named(std::string_view name) {
  for (const auto& [known_name, make] : known) {
    if (known_name == name) return make();
  }
  return nullptr;
}

// Returns the number of steps. Thread 0 decides when to stop, before a barrier.
int run(Kernel& kernel, double seconds) {
  constexpr int least_steps = 10;
  const auto start = std::chrono::steady_clock::now();
  Meeting meeting(threads);
  bool goes_on = true;
  int steps = 0;
  const auto work = [&](int thread) {
    while (goes_on) {
      kernel.step(thread, meeting);
      meeting.arrive_and_wait();
      if (thread == 0) {
        ++steps;
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        goes_on = steps < least_steps || passed.count() < seconds;
      }
      meeting.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
  return steps;
}

}  // namespace
}  // namespace huddle::kernels

int main(int argc, char** argv) {
  const auto kernel = argc == 3 ? huddle::kernels::kernel_named(argv[1]) : nullptr;
  if (!kernel) {
    std::fputs("arguments: sp|lu|ft|ep|is|cg|mg SECONDS\n", stderr);
    return 2;
  }
  const int steps = huddle::kernels::run(*kernel, std::atof(argv[2]));
  const bool is_right = kernel->is_right(steps);
  std::printf("%s: %d steps, %s\n", argv[1], steps, is_right ? "right" : "WRONG");
  return is_right ? 0 : 1;
}
