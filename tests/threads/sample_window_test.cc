// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "threads/sample_window.h"

#include <gmock/gmock.h>

#include <set>

namespace huddle::threads {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;

TEST(WritableRanges, AreWhatTheProgramAloneWritesTo) {
  EXPECT_THAT(
      writable_ranges({"55d0c000-55d0d000 r-xp 00000000 fe:00 1   /usr/bin/app",
                       "55d0d000-55d0f000 rw-p 00001000 fe:00 1   /usr/bin/app",
                       "55e00000-55e21000 rw-p 00000000 00:00 0   [heap]",
                       "7f000000-7f001000 rw-s 00000000 fe:00 9   /tmp/shared",
                       "7f100000-7f101000 rw-p 00000000 00:05 9   /dev/gpu",
                       "7f200000-7f300000 rw-p 00000000 00:00 0 ",
                       "7ffd0000-7ffd1000 rw-p 00000000 00:00 0   [vvar]", "nonsense", ""}),
      ElementsAre(AddressRange{0x55d0d000, 0x55d0f000}, AddressRange{0x55e00000, 0x55e21000},
                  AddressRange{0x7f200000, 0x7f300000}));
}

// Goes over the window once, and says what it covered.
std::vector<AddressRange> pass(SampleWindow& window, int pages, int most_pages) {
  std::vector<AddressRange> parts;
  while (const auto part = window.next()) {
    parts.push_back(*part);
    window.advance(part->bytes());
  }
  window.finish_call(pages, most_pages);
  return parts;
}

TEST(SampleWindow, HoldsAllWhereThatIsLittle) {
  SampleWindow window;
  EXPECT_FALSE(window.next());
  const std::vector<AddressRange> ranges = {{64 * kib, 128 * kib}, {512 * kib, 520 * kib}};
  window.set_ranges(ranges);
  EXPECT_TRUE(window.is_first_pass());
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(pass(window, 1, 100), ranges);
    EXPECT_FALSE(window.is_first_pass());  // nothing becomes new again
  }
}

// It comes by everything, and grows where little is found.
TEST(SampleWindow, MovesOverEverything) {
  SampleWindow window;
  window.set_ranges({{0, 3 * mib}, {16 * mib, 21 * mib}});
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) {
    for (const AddressRange& part : pass(window, 0, 100)) {
      for (std::uint64_t page = part.start; page < part.end; page += 4 * kib) seen.insert(page);
    }
  }
  EXPECT_EQ(seen.size(), 8 * mib / (4 * kib));
  EXPECT_EQ(pass(window, 0, 100).size(), 2U);  // all of it at once by now
}

// A pass that takes many calls comes by each page too seldom.
TEST(SampleWindow, ShrinksWhereMuchIsFound) {
  SampleWindow window;
  window.set_ranges({{0, 64 * mib}});
  std::uint64_t largest = 0;
  for (int call = 0; call < 5000; ++call) {
    const auto part = window.next();
    ASSERT_TRUE(part);
    window.advance(std::min<std::uint64_t>(part->bytes(), 16 * kib));
    window.finish_call(4, 4);
    if (call > 4000) largest = std::max(largest, part->bytes());
  }
  EXPECT_EQ(largest, 64 * kib);
}

TEST(SampleWindow, GoesOnWhereMemoryComesAndGoes) {
  SampleWindow window;
  window.set_ranges({{0, 64 * mib}});
  for (int i = 0; i < 100; ++i) pass(window, 50, 100);
  window.set_ranges({{0, 8 * kib}});
  EXPECT_THAT(pass(window, 0, 100), ElementsAre(AddressRange{0, 8 * kib}));
  window.set_ranges({});
  EXPECT_FALSE(window.next());
}

}  // namespace
}  // namespace huddle::threads
