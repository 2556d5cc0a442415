// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fibers: the ranks of a simulated world take turns on one thread, in an order that the world
// chooses. The sanitizers are told of every switch.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace huddle::context {

// A set of fibers that is used for one run after another; its stacks are kept in between.
class Fibers {
 public:
  // The thread that called run().
  static constexpr int host = -1;
  // Room for a protocol's frames with a sanitizer's red zones; only pages in use take memory.
  static constexpr std::size_t default_stack_bytes = 256 * 1024;

  // What a fiber does; its result says who goes on when it has ended. Nothing may be thrown out of
  // it.
  using Body = std::function<int(int fiber)>;

  explicit Fibers(int count, std::size_t stack_bytes = default_stack_bytes);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  // pre: every body that began has ended.
  ~Fibers();

  int count() const { return static_cast<int>(contexts_.size()) - 1; }
  // The fiber that is running, or `host`.
  int current() const { return current_; }

  // Runs `first` until somebody switches back to the host. A fiber begins `body` when it is first
  // switched to, and again when it is switched to after its body has ended.
  void run(int first, const Body& body);
  // Leaves the fiber that is running, until somebody switches back to it.
  void switch_to(int fiber);

 private:
  struct Context;

  Context& context(int fiber) const { return *contexts_[static_cast<std::size_t>(fiber) + 1]; }
  void prepare(Context& fresh);
  void loop();
  void change(int target, bool for_good);
  static void enter(unsigned low, unsigned high);

  std::size_t stack_bytes_;
  std::vector<std::unique_ptr<Context>> contexts_;  // of the host first, then of each fiber
  const Body* body_ = nullptr;
  int current_ = host;
  int previous_ = host;
  bool ending_ = false;
};

}  // namespace huddle::context
