// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Waits for a peer that dies: flags that it set before it died still count.
#include "runtime/context/native_context.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "runtime/context/errors.h"

namespace huddle::context {
namespace {

constexpr Sequence raised = first_sequence + 1;

// Two flags in the memory of one rank. The peer sets the second one, or none, before it is found
// dead.
class DyingPeer {
 public:
  explicit DyingPeer(bool raises)
      : waiting_({}, {}, [this, raises] {
          if (raises) std::atomic_ref(flags_[1]).store(raised, std::memory_order_release);
          throw PeerLost("it has died");
        }) {}

  NativeContext world() { return NativeContext(context_, {}); }

  static constexpr Address first{Region::shared, 0, 0};
  static constexpr Address second{Region::shared, 0, sizeof(Sequence)};

 private:
  std::array<Sequence, 2> flags_{first_sequence, first_sequence};
  std::array<std::byte*, 1> shared_{reinterpret_cast<std::byte*>(flags_.data())};
  Waiting waiting_;
  ProtocolContext context_{0, 1, shared_.data(), nullptr, &waiting_};
};

TEST(NativeContext, WaitSeesFlagSetBeforePeerDied) {
  DyingPeer peer(true);
  EXPECT_EQ(peer.world().wait(DyingPeer::second, until_reached(raised)), raised);
}

TEST(NativeContext, WaitAnySeesFlagSetBeforePeerDied) {
  DyingPeer peer(true);
  const std::array awaited = {AwaitedFlag{DyingPeer::first, until_reached(raised)},
                              AwaitedFlag{DyingPeer::second, until_reached(raised)}};
  EXPECT_EQ(peer.world().wait_any(awaited), 1);
}

TEST(NativeContext, WaitThrowsIfPeerHasDied) {
  DyingPeer peer(false);
  const std::array awaited = {AwaitedFlag{DyingPeer::first, until_reached(raised)},
                              AwaitedFlag{DyingPeer::second, until_reached(raised)}};
  EXPECT_THROW(peer.world().wait(DyingPeer::first, until_reached(raised)), PeerLost);
  EXPECT_THROW(peer.world().wait_any(awaited), PeerLost);
}

}  // namespace
}  // namespace huddle::context
