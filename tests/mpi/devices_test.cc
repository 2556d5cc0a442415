// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/devices.h"

#include <gtest/gtest.h>

#include "loaded.h"
#include "programs/tools/fake_cuda.h"

namespace huddle::mpi {
namespace {

struct Here {
  Devices devices{marker_file, [] {}};
  LibraryLoadMonitor::Looking looking{false};

  bool have_driver() { return devices.have_driver(looking); }
};

constexpr std::size_t page = 4096;

TEST(Devices, WithoutADriverHoldNothing) {
  in_child([] {
    Here here;
    EXPECT_FALSE(here.have_driver());
    const int number = 0;
    EXPECT_FALSE(here.devices.hold(&number));
    EXPECT_FALSE(here.have_driver());
  });
}

TEST(Devices, AskCuda) {
  in_child([] {
    Here here;
    EXPECT_FALSE(here.have_driver());
    const Library library(fake_driver("libcuda.so.1"));
    EXPECT_TRUE(here.have_driver());
    auto* const block = library.function<void*(std::size_t, fake_kind)>("fake_block");
    auto* const device = static_cast<char*>(block(page, fake_device));
    EXPECT_FALSE(here.devices.hold(device)) << "the driver has not been started";
    library.function<int(unsigned)>("cuInit")(0);
    EXPECT_TRUE(here.devices.hold(device));
    EXPECT_TRUE(here.devices.hold(device + page - 1));
    EXPECT_TRUE(here.devices.hold(block(page, fake_managed)));
    EXPECT_FALSE(here.devices.hold(block(page, fake_host)));
    const int number = 0;
    EXPECT_FALSE(here.devices.hold(&number));
  });
}

TEST(Devices, AskRocm) {
  in_child([] {
    const Library library(fake_driver("libamdhip64.so.6"));
    Here here;
    EXPECT_TRUE(here.have_driver());
    auto* const set = library.function<void(int, const void*, int, int)>("fake_set");
    const int number = 0;
    const auto holds = [&](int version, int type, int is_managed) {
      set(version, &number, type, is_managed);
      return here.devices.hold(&number);
    };
    constexpr int five = 50'731'000;
    constexpr int six = 60'032'000;
    EXPECT_FALSE(holds(five, 0, 0));  // host
    EXPECT_TRUE(holds(five, 1, 0));   // device
    EXPECT_TRUE(holds(five, 0, 1));   // managed
    EXPECT_FALSE(holds(six, 0, 0));   // unregistered
    EXPECT_FALSE(holds(six, 1, 0));   // host
    EXPECT_TRUE(holds(six, 2, 0));    // device
    EXPECT_TRUE(holds(six, 3, 1));    // managed
  });
}

// A query about memory that is unknown to the runtime must leave no error for the program.
TEST(Devices, KeepRocmsLastErrorForTheProgram) {
  in_child([] {
    const Library library(fake_driver("libamdhip64.so.6"));
    Here here;
    EXPECT_TRUE(here.have_driver());
    const int number = 0;
    EXPECT_FALSE(here.devices.hold(&number));
    auto* const take_error = library.function<int()>("hipGetLastError");
    EXPECT_EQ(take_error(), 0);
    library.function<void(int)>("fake_fail")(1);
    EXPECT_FALSE(here.devices.hold(&number));
    EXPECT_EQ(take_error(), 1);
  });
}

TEST(Devices, AskLevelZero) {
  in_child([] {
    const Library library(fake_driver("libze_loader.so.1"));
    Here here;
    EXPECT_TRUE(here.have_driver());
    auto* const set = library.function<void(int, const void*, int)>("fake_set");
    const int one = 0;
    const int other = 0;
    set(0, &one, 2);
    EXPECT_FALSE(here.devices.hold(&one)) << "it has not been started";
    library.function<void()>("fake_start")();
    EXPECT_TRUE(here.devices.hold(&one));
    set(1, &other, 3);
    EXPECT_TRUE(here.devices.hold(&other));
    set(0, &one, 1);
    EXPECT_FALSE(here.devices.hold(&one)) << "of the host";
  });
}

// Without the marker, each call examines the loaded libraries.
TEST(Devices, AreFoundWithoutTheMarker) {
  in_child([] {
    Devices devices("/nowhere/libhuddle_marker.so", [] {});
    LibraryLoadMonitor::Looking looking{false};
    EXPECT_FALSE(devices.have_driver(looking));
    EXPECT_FALSE(devices.have_driver(looking));
    const Library library(fake_driver("libcuda.so.1"));
    EXPECT_TRUE(devices.have_driver(looking));
  });
}

}  // namespace
}  // namespace huddle::mpi
