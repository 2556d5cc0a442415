// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A fake of ThreadMasks with threads that do not exist.
#pragma once

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <vector>

#include "placement/threads/thread_masks.h"

namespace huddle::threads {

class MadeUpMasks final : public ThreadMasks {
 public:
  struct Thread {
    pid_t process = 0;
    std::uint64_t born = 0;
    machine::CpuSet mask;
  };

  // Starts a thread, or replaces one with the same number.
  void start(pid_t process, pid_t thread, std::string_view mask) {
    threads_[thread] = {process, ++clock_, machine::CpuSet::parse(mask)};
  }
  // Starts a child process with its first thread.
  void fork(pid_t parent, pid_t child, std::string_view mask) {
    start(child, child, mask);
    children_[parent].push_back(child);
  }
  void end(pid_t thread) { threads_.erase(thread); }
  std::string text(pid_t thread) const { return threads_.at(thread).mask.text(); }
  std::set<pid_t> refusing;  // threads whose mask cannot be set

  std::optional<machine::CpuSet> mask(pid_t thread) const override {
    const auto found = threads_.find(thread);
    if (found == threads_.end()) return std::nullopt;
    return found->second.mask;
  }
  int set_mask(pid_t thread, const machine::CpuSet& processors) override {
    if (!threads_.contains(thread)) return ESRCH;
    if (refusing.contains(thread)) return EPERM;
    threads_[thread].mask = processors;
    return 0;
  }
  std::uint64_t born(pid_t number) const override {
    const auto found = threads_.find(number);
    return found == threads_.end() ? 0 : found->second.born;
  }
  std::vector<pid_t> threads_of(pid_t process) const override {
    std::vector<pid_t> all;
    for (const auto& [number, thread] : threads_) {
      if (thread.process == process) all.push_back(number);
    }
    return all;
  }
  std::vector<pid_t> children_of(pid_t process) const override {
    const auto found = children_.find(process);
    return found == children_.end() ? std::vector<pid_t>() : found->second;
  }
  pid_t parent_of(pid_t process) const override {
    for (const auto& [parent, all] : children_) {
      if (std::find(all.begin(), all.end(), process) != all.end()) return parent;
    }
    return 0;
  }

 private:
  std::map<pid_t, Thread> threads_;
  std::map<pid_t, std::vector<pid_t>> children_;
  std::uint64_t clock_ = 0;
};

}  // namespace huddle::threads
