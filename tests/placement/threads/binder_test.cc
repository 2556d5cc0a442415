// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/mover.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "made_up_masks.h"

namespace huddle::threads {
namespace {

using machine::CpuSet;
using Outcome = Binder::Outcome;

class BinderTest : public ::testing::Test {
 protected:
  // A process with four threads on a machine with eight hardware threads.
  BinderTest() {
    for (pid_t thread = 10; thread < 14; ++thread) masks_.start(10, thread, "0-7");
    look();
  }
  void look() { binder_.look(10, masks_.threads_of(10)); }
  Outcome bind(pid_t thread, std::string_view processors) {
    const CpuSet set = CpuSet::parse(processors);
    return binder_.bind(thread, set, set.first());
  }

  MadeUpMasks masks_;
  std::string log_;
  bool can_note_ = true;
  Binder binder_{masks_, [this](std::string_view line) {
                   log_ += can_note_ ? line : "";
                   return can_note_;
                 }};
};

TEST_F(BinderTest, BindsAndRestores) {
  EXPECT_EQ(bind(10, "0-3"), Outcome::bound);
  EXPECT_EQ(bind(11, "4-7"), Outcome::bound);
  EXPECT_EQ(masks_.text(10), "0-3");
  EXPECT_EQ(masks_.text(11), "4-7");
  EXPECT_EQ(bind(10, "4-7"), Outcome::bound);  // rebinding is allowed
  EXPECT_EQ(binder_.restore(), 2);
  for (pid_t thread = 10; thread < 14; ++thread) EXPECT_EQ(masks_.text(thread), "0-7");
  EXPECT_TRUE(read_kept_state(log_).bound.empty());
}

TEST_F(BinderTest, RecordSufficesToRestore) {
  bind(10, "0-3");
  bind(11, "4-7");
  bind(10, "2");
  const SavedState kept = read_kept_state(log_);
  EXPECT_EQ(kept.claims().text(), "2,4");
  EXPECT_EQ(restore(kept, masks_), 2);
  EXPECT_EQ(masks_.text(10), "0-7");
  EXPECT_EQ(masks_.text(11), "0-7");
}

// The agent may be killed after it has written a line and before it makes the change.
TEST_F(BinderTest, RecordedButUnfinishedBindingIsRestored) {
  bind(10, "0-3");
  masks_.start(10, 14, "0-3");  // not reported as born
  bind(10, "4-7");
  masks_.set_mask(10, CpuSet::parse("0-3"));
  EXPECT_EQ(restore(read_kept_state(log_), masks_), 2);
  EXPECT_EQ(masks_.text(10), "0-7");
  EXPECT_EQ(masks_.text(14), "0-7");
  bind(11, "0-3");
  bind(11, "0-7");  // meant to be free again, but not yet done
  masks_.set_mask(11, CpuSet::parse("0-3"));
  EXPECT_EQ(restore(read_kept_state(log_), masks_), 1);
  EXPECT_EQ(masks_.text(11), "0-7");
}

// Created before its creator was rebound, and seen afterwards.
TEST_F(BinderTest, ThreadThatInheritedPreviousBindingIsRestored) {
  bind(10, "0-3");
  masks_.start(10, 14, "0-3");
  masks_.start(10, 15, "0-3");
  bind(10, "4-7");
  binder_.take({10, 14, 10});
  EXPECT_EQ(masks_.text(14), "0-7");
  look();
  EXPECT_EQ(masks_.text(15), "0-7");
  EXPECT_FALSE(binder_.is_alone(14) || binder_.is_alone(15));
}

// Two programs share an agent: a thread with the same mask as a thread of the other program has set
// it itself.
TEST_F(BinderTest, MaskOfAnotherProgramIsNotInherited) {
  bind(10, "0-3");
  masks_.start(20, 20, "0-5");
  binder_.look(20, {20});
  masks_.start(20, 21, "0-3");
  binder_.look(20, {20, 21});
  EXPECT_TRUE(binder_.is_alone(21));
  EXPECT_EQ(masks_.text(21), "0-3");
  // The same at the end, without another look().
  bind(20, "4-5");
  masks_.start(20, 22, "0-3");
  binder_.restore();
  EXPECT_EQ(masks_.text(22), "0-3");
  EXPECT_EQ(masks_.text(20), "0-5");
}

// From the parent process, which is bound, and from that process's parent.
TEST_F(BinderTest, ProcessInheritsFromItsAncestors) {
  bind(10, "0-3");
  masks_.fork(10, 20, "0-3");
  masks_.fork(20, 30, "0-3");
  binder_.look(20, {20});
  binder_.look(30, {30});
  EXPECT_EQ(masks_.text(20), "0-7");
  EXPECT_EQ(masks_.text(30), "0-7");
}

// A child that outlives its program is no longer observed and must not stay bound.
TEST_F(BinderTest, LivingThreadThatIsNoLongerObservedIsRestored) {
  bind(10, "0-3");
  bind(11, "4-7");
  masks_.set_mask(11, CpuSet::parse("6"));  // by another program
  binder_.look(10, {});
  EXPECT_EQ(masks_.text(10), "0-7");
  EXPECT_EQ(masks_.text(11), "6");
  EXPECT_TRUE(read_kept_state(log_).bound.empty());
}

TEST_F(BinderTest, StaysWithinOriginalMask) {
  masks_.start(20, 20, "0-1");
  binder_.look(20, {20});
  EXPECT_EQ(bind(20, "1-5"), Outcome::bound);
  EXPECT_EQ(masks_.text(20), "1");
  EXPECT_EQ(bind(20, "4-7"), Outcome::not_allowed);
  EXPECT_EQ(masks_.text(20), "1");
  binder_.restore();
  EXPECT_EQ(masks_.text(20), "0-1");
}

TEST_F(BinderTest, LeavesThreadsBoundByTheProgram) {
  masks_.start(10, 14, "5");
  look();
  EXPECT_TRUE(binder_.is_alone(14));
  EXPECT_EQ(bind(14, "0-3"), Outcome::alone);
  EXPECT_EQ(masks_.text(14), "5");
  EXPECT_EQ(binder_.left_alone(), 1);
}

// From the moment when another program changes the mask, and for good.
TEST_F(BinderTest, LeavesThreadsChangedByOthers) {
  bind(10, "0-3");
  masks_.set_mask(10, CpuSet::parse("6"));
  EXPECT_EQ(bind(10, "4-7"), Outcome::alone);  // even without another look()
  masks_.set_mask(11, CpuSet::parse("2-3"));
  look();
  EXPECT_TRUE(binder_.is_alone(11));
  binder_.restore();
  EXPECT_EQ(masks_.text(10), "6");
  EXPECT_EQ(masks_.text(11), "2-3");
}

TEST_F(BinderTest, NewThreadsGetOriginalMaskOfCreator) {
  bind(10, "0-3");
  masks_.start(10, 14, "0-3");
  binder_.take({10, 14, 10});
  EXPECT_EQ(masks_.text(14), "0-7");
  masks_.start(10, 15, "0-3");  // not reported as born
  look();
  EXPECT_EQ(masks_.text(15), "0-7");
  masks_.start(10, 16, "5");  // has bound itself at once
  binder_.take({10, 16, 10});
  EXPECT_EQ(masks_.text(16), "5");
  masks_.start(10, 17, "0-7");  // its creator is not bound
  binder_.take({10, 17, 11});
  look();
  EXPECT_EQ(masks_.text(17), "0-7");
  EXPECT_FALSE(binder_.is_alone(14) || binder_.is_alone(15) || binder_.is_alone(17));
  EXPECT_TRUE(binder_.is_alone(16));
}

// Includes processes, and threads created between the last look() and the end.
TEST_F(BinderTest, RestoresUnreportedDescendants) {
  bind(10, "0-3");
  masks_.start(10, 14, "0-3");
  masks_.fork(10, 30, "0-3");
  masks_.fork(30, 31, "0-3");
  EXPECT_EQ(restore(read_kept_state(log_), masks_), 4);
  for (const pid_t thread : {10, 14, 30, 31}) EXPECT_EQ(masks_.text(thread), "0-7");
}

TEST_F(BinderTest, ReusedThreadIdIsNotTouched) {
  bind(10, "0-3");
  bind(11, "4-7");
  masks_.start(10, 11, "4-7,3");  // 11 has ended, and another thread has its id
  EXPECT_EQ(bind(11, "0-3"), Outcome::gone);
  masks_.end(10);
  EXPECT_EQ(bind(10, "4-7"), Outcome::gone);
  const SavedState kept = read_kept_state(log_);
  EXPECT_EQ(restore(kept, masks_), 0);
  EXPECT_EQ(masks_.text(11), "3-7");
}

TEST_F(BinderTest, DoesNotBindIfRecordFails) {
  can_note_ = false;
  EXPECT_EQ(bind(10, "0-3"), Outcome::not_noted);
  EXPECT_EQ(masks_.text(10), "0-7");
}

TEST_F(BinderTest, RefusalIsPermanent) {
  masks_.refusing.insert(10);
  EXPECT_EQ(bind(10, "0-3"), Outcome::refused);
  EXPECT_TRUE(binder_.is_alone(10));
}

TEST_F(BinderTest, EndedThreadsAreForgotten) {
  bind(10, "0-3");
  masks_.end(10);
  look();
  EXPECT_TRUE(binder_.kept().bound.empty());
  EXPECT_EQ(binder_.restore(), 0);
}

TEST(SavedState, IncompleteLineIsIgnored) {
  const std::string all = agent_line({4, 5}) + guardian_line({6, 7}) + program_line({10, 1}) +
                          bind_line({.thread = {10, 1},
                                     .process = 10,
                                     .original = CpuSet::parse("0-7"),
                                     .before = CpuSet::parse("4-7"),
                                     .set = CpuSet::parse("0-3"),
                                     .claim = 0});
  EXPECT_EQ(read_kept_state(all).bound.size(), 1U);
  for (std::size_t bytes = 0; bytes < all.size(); ++bytes) {
    EXPECT_TRUE(read_kept_state(all.substr(0, bytes)).bound.empty()) << bytes;
  }
  EXPECT_EQ(read_kept_state(all).guardian, (Identity{6, 7}));
}

TEST(SavedState, DamagedLineEndsTheRecord) {
  const CpuSet all = CpuSet::parse("0-7");
  const std::string good = bind_line({{10, 1}, 10, all, all, CpuSet::parse("0"), 0});
  ASSERT_EQ(read_kept_state(good).bound.size(), 1U);
  for (const char* bad :
       {"\n", "bind\n", "bind 1 2 3 x 0 0 0\n", "bind 1 2 3 0 x 0 0\n", "bind -1 2 3 0 0 0 0\n",
        "bind 1 2 3 0 0 0\n", "what 1 2\n", "agent 1\n", "agent 1 2 3\n"}) {
    EXPECT_TRUE(read_kept_state(bad + good).bound.empty()) << bad;
  }
}

// At the end each thread has its original mask, unless another program has bound it.
RC_GTEST_PROP(BinderAtRandom, RestoresEverything, ()) {
  MadeUpMasks masks;
  std::string log;
  Binder binder(masks, [&log](std::string_view line) {
    log += line;
    return true;
  });
  for (pid_t thread = 10; thread < 16; ++thread) masks.start(10, thread, "0-7");
  binder.look(10, masks.threads_of(10));
  std::set<pid_t> changed;
  const int steps = *rc::gen::inRange(0, 40);
  for (int step = 0; step < steps; ++step) {
    const auto thread = static_cast<pid_t>(*rc::gen::inRange(10, 16));
    const int first = *rc::gen::inRange(0, 7);
    const CpuSet set({first, first + 1});
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        binder.look(10, masks.threads_of(10));
        break;
      case 1:
        binder.restore();
        break;
      case 2:  // by another program
        if (masks.mask(thread) == set) break;
        masks.set_mask(thread, set);
        binder.look(10, masks.threads_of(10));
        changed.insert(thread);
        break;
      case 3: {
        const auto child = static_cast<pid_t>(100 + step);
        masks.start(10, child, masks.text(thread));
        binder.take({10, child, thread});
        if (changed.contains(thread)) changed.insert(child);
        break;
      }
      case 4:
        binder.bind(thread, set, first);
        break;
    }
  }
  restore(read_kept_state(log), masks);
  for (const pid_t thread : masks.threads_of(10)) {
    if (!changed.contains(thread)) RC_ASSERT(masks.text(thread) == "0-7");
  }
}

}  // namespace
}  // namespace huddle::threads
