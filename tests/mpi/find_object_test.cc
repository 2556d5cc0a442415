// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/standalone/find_object.h"

#include <gtest/gtest.h>
#include <array>
#include <cstdlib>
#include <memory>

#ifdef HUDDLE_FIND_OBJECT
namespace huddle {
namespace {

TEST(FindObject, ReturnsWhatGlibcReturns) {
  const auto of_glibc = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  if (of_glibc == nullptr) GTEST_SKIP() << "glibc is older than 2.35";
  int on_stack = 0;
  const auto of_heap = std::make_unique<int>();
  const std::array addresses{
      reinterpret_cast<void*>(&find_object), reinterpret_cast<void*>(&std::malloc),
      dlsym(RTLD_DEFAULT, "__cxa_throw"),    static_cast<void*>(&on_stack),
      static_cast<void*>(of_heap.get()),     static_cast<void*>(nullptr)};
  for (void* const address : addresses) {
    dl_find_object expected{};
    dl_find_object actual{};
    const int is_missing = of_glibc(address, &expected);
    ASSERT_EQ(find_object(address, &actual), is_missing) << address;
    if (is_missing != 0) continue;
    EXPECT_EQ(actual.dlfo_eh_frame, expected.dlfo_eh_frame) << address;
  }
}

}  // namespace
}  // namespace huddle
#endif
