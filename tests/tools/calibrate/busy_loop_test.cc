// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks that a busy loop of another program on one of the cores is detected and that the doubt
// contains that core. Noise on a shared machine can only add doubts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <string>
#include <thread>

#include "here.h"
#include "tools/calibrate/line_probe.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

// Uses half of a hardware thread as long as the object exists.
class BusyLoop {
 public:
  explicit BusyLoop(int pu) : thread_([this, pu] { spin(pu); }) {
    while (!running_.load()) std::this_thread::yield();
  }
  ~BusyLoop() {
    over_.store(true);
    thread_.join();
  }

 private:
  void spin(int pu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(pu), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    running_.store(true);
    while (!over_.load(std::memory_order_relaxed)) continue;
  }

  std::atomic<bool> running_{false};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

Measured measure_line(int a, int b) {
  MeasuringThreads crew(std::array{a, b});
  return measure(Tolerance{}, ample(), [&](const Budget& budget) {
    // The duration of a full calibration: many time slices of the scheduler.
    return time_line(crew, a, b, LineUse::own_lines, {.least = 32, .seconds = 0.06}, budget);
  });
}

TEST(BusyLoop, IsDetectedAndCoreIsReported) {
  HUDDLE_NEED_CORES(2);
  const auto pus = cores_here();
  for (const int busy : {pus[0], pus[1]}) {
    const BusyLoop neighbour(busy);
    const Measured measured = measure_line(pus[0], pus[1]);
    EXPECT_FALSE(measured.verdict.steady());
    EXPECT_EQ(measured.attempts, 1 + most_repetitions);
    const std::string thread = "hardware thread " + std::to_string(busy);
    EXPECT_THAT(measured.verdict.reasons, Contains(HasSubstr("other programs ran on " + thread)));

    MeasurementLog book;
    book.record("line latency", "these two", measured);
    EXPECT_THAT(book.doubts(), Contains(Field(&machine::Doubt::what, thread)));
    EXPECT_THAT(book.doubts(), Contains(Field(&machine::Doubt::why, HasSubstr("other programs"))));
  }
}

}  // namespace
}  // namespace huddle::calibrate
