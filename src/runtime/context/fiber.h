// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fibers that run on one thread. The model checker and the simulator run each rank as a fiber and
// choose the order in which ranks proceed. Sanitizers are informed about each switch.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace huddle::context {

// A set of fibers that can be run repeatedly. Keeps its stacks between runs.
class Fibers {
 public:
  // The thread that called run().
  static constexpr int host = -1;
  // Enough for a protocol's frames with a sanitizer's red zones. Untouched pages take no memory.
  static constexpr std::size_t default_stack_bytes = 256 * 1024;

  // The function that a fiber runs. Its return value is the fiber to switch to when this one ends.
  // Must not throw.
  using Body = std::function<int(int fiber)>;

  explicit Fibers(int count, std::size_t stack_bytes = default_stack_bytes);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  // Requires: every body that has begun has ended.
  ~Fibers();

  int count() const { return static_cast<int>(contexts_.size()) - 1; }
  // Returns the fiber that is running, or `host`.
  int current() const { return current_; }

  // Switches to `first`; returns when a fiber switches to the host. A fiber begins `body` when it
  // is switched to for the first time, and again when it is switched to after its body has ended.
  void run(int first, const Body& body);
  // Suspends the running fiber until another one switches back to it.
  void switch_to(int fiber);

 private:
  struct Context;

  Context& context(int fiber) const { return *contexts_[static_cast<std::size_t>(fiber) + 1]; }
  void prepare(Context& fresh);
  void loop();
  void change(int target, bool for_good);
  static void enter(unsigned low, unsigned high);

  std::size_t stack_bytes_;
  std::vector<std::unique_ptr<Context>> contexts_;  // the host's, then one per fiber
  const Body* body_ = nullptr;
  int current_ = host;
  int previous_ = host;
  bool ending_ = false;
};

}  // namespace huddle::context
