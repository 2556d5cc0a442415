// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/devices.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "loaded.h"

namespace huddle::mpi {
namespace {

const auto nobody_looks = [] {};

struct Watch {
  LibraryLoadMonitor watch{marker_file};
  LibraryLoadMonitor::Looking looking{false};

  bool has_news() { return watch.has_news(looking); }
  void catch_up() { watch.catch_up(nobody_looks); }
};

TEST(LibraryLoadMonitor, ReportsALoadedLibraryOnce) {
  in_child([] {
    Watch watch;
    EXPECT_TRUE(watch.has_news());
    watch.catch_up();
    EXPECT_FALSE(watch.has_news());
    const Library first(fake_driver("libamdhip64.so.6"));
    EXPECT_TRUE(watch.has_news());
    EXPECT_TRUE(watch.has_news());
    watch.catch_up();
    EXPECT_FALSE(watch.has_news());
    { const Library again(fake_driver("libamdhip64.so.6")); }
    EXPECT_FALSE(watch.has_news());
    const Library second(fake_driver("libze_loader.so.1"));
    EXPECT_TRUE(watch.has_news());
  });
}

TEST(LibraryLoadMonitor, ReportsLibrariesOfOtherThreads) {
  in_child([] {
    Watch watch;
    watch.catch_up();
    std::jthread([] {
      dlopen(fake_driver("libcuda.so.1").c_str(), RTLD_LAZY | RTLD_LOCAL);
    }).join();
    EXPECT_TRUE(watch.has_news());
  });
}

// No sequence of loading and unloading hides a new library.
TEST(LibraryLoadMonitor, MissesNothing) {
  in_child([] {
    const std::array files{"libcuda.so.1", "libamdhip64.so.6", "libze_loader.so.1"};
    std::array<std::unique_ptr<Library>, files.size()> loaded;
    std::mt19937 chance(20261123);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
    Watch watch;
    watch.catch_up();
    for (int step = 0; step < 500; ++step) {
      const std::size_t which = chance() % files.size();
      if (loaded[which]) {
        loaded[which].reset();
      } else {
        loaded[which] = std::make_unique<Library>(fake_driver(files[which]));
        ASSERT_TRUE(watch.has_news()) << "step " << step;
      }
      if (chance() % 2 == 0) watch.catch_up();
    }
  });
}

TEST(LibraryLoadMonitor, WithoutItsMarkerAlwaysReportsNews) {
  LibraryLoadMonitor watch("/nowhere/libhuddle_marker.so");
  LibraryLoadMonitor::Looking looking{false};
  EXPECT_TRUE(watch.has_news(looking));
  watch.catch_up(nobody_looks);
  EXPECT_TRUE(watch.has_news(looking));
}

// Threads check while another one catches up: none may access a removed marker.
TEST(LibraryLoadMonitor, CatchesUpWhileOtherThreadsCheck) {
  in_child([] {
    constexpr int lookers = 3;
    constexpr int loads = 200;
    LibraryLoadMonitor watch(marker_file);
    std::array<LibraryLoadMonitor::Looking, lookers> looking{};
    std::atomic<bool> has_ended{false};
    int waits = 0;
    std::vector<std::jthread> threads;
    threads.reserve(lookers);
    for (auto& own : looking) {
      threads.emplace_back([&] {
        while (!has_ended.load()) watch.has_news(own);
      });
    }
    for (int i = 0; i < loads; ++i) {
      const Library library(fake_driver("libze_loader.so.1"));
      watch.catch_up([&] {
        ++waits;
        for (auto& own : looking) {
          while (own.load(std::memory_order_acquire)) std::this_thread::yield();
        }
      });
    }
    has_ended = true;
    EXPECT_EQ(waits, loads - 1) << "each but the first takes something away";
  });
}

}  // namespace
}  // namespace huddle::mpi
