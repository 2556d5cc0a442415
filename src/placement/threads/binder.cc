// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/binder.h"

#include <algorithm>
#include <cerrno>

namespace huddle::threads {

using machine::CpuSet;

void Binder::take(const Birth& birth) {
  const auto parent = kept_.bound.find(birth.parent);
  if (parent == kept_.bound.end()) return;
  const std::optional<CpuSet> mask = masks_.mask(birth.thread);
  if (!mask || !parent->second.has_set(*mask)) return;
  masks_.set_mask(birth.thread, parent->second.original);
}

bool Binder::is_changed(const Known& one) const {
  const std::optional<CpuSet> mask = masks_.mask(one.thread.number);
  const auto bound = kept_.bound.find(one.thread.number);
  return mask && *mask != (bound == kept_.bound.end() ? one.original : bound->second.set);
}

void Binder::leave_alone(Known& one) {
  one.alone = true;
  ++left_alone_;
  note_(alone_line(one.thread));
  kept_.apply(alone_line(one.thread));
}

void Binder::meet(pid_t process, pid_t thread) {
  Known one{.thread = {thread, masks_.born(thread)}, .process = process};
  std::optional<CpuSet> mask = masks_.mask(thread);
  if (one.thread.born == 0 || !mask) return;  // gone by now
  const Identity program{process, masks_.born(process)};
  const auto usual = usual_.find(program);
  const bool is_usual = usual != usual_.end() && usual->second == *mask;
  // Nobody has told that it was born: of one that is bound, by what it has.
  const Kept* const parent = is_usual ? nullptr : creator_of(kept_, masks_, process, *mask);
  if (parent != nullptr && masks_.set_mask(thread, parent->original) == 0) mask = parent->original;
  one.original = *mask;
  usual_.try_emplace(program, *mask);
  Known& known = known_.insert_or_assign(thread, std::move(one)).first->second;
  if (known.original != usual_.at(program)) leave_alone(known);
}

void Binder::look(pid_t process, const std::vector<pid_t>& threads) {
  std::erase_if(known_, [&](const auto& one) {
    if (one.second.process != process) return false;
    const bool is_there = masks_.is_there(one.second.thread);
    if (is_there && std::binary_search(threads.begin(), threads.end(), one.first)) return false;
    if (is_there) let_go(one.first);
    kept_.bound.erase(one.first);
    kept_.alone.erase(one.second.thread);
    return true;
  });
  for (const pid_t thread : threads) {
    const auto known = known_.find(thread);
    if (known == known_.end()) {
      meet(process, thread);
    } else if (!known->second.alone && is_changed(known->second)) {
      leave_alone(known->second);
    }
  }
}

// It lives, and nobody looks at it any more.
void Binder::let_go(pid_t thread) {
  const auto bound = kept_.bound.find(thread);
  if (bound == kept_.bound.end()) return;
  const std::optional<CpuSet> mask = masks_.mask(thread);
  if (mask && bound->second.has_set(*mask)) masks_.set_mask(thread, bound->second.original);
  note_(back_line(bound->second.thread));
}

bool Binder::is_alone(pid_t thread) const {
  const auto known = known_.find(thread);
  return known != known_.end() && known->second.alone;
}

Binder::Outcome Binder::bind(pid_t thread, const CpuSet& processors, int claim) {
  const auto known = known_.find(thread);
  if (known == known_.end() || !masks_.is_there(known->second.thread)) return Outcome::gone;
  Known& one = known->second;
  if (!one.alone && is_changed(one)) leave_alone(one);
  if (one.alone) return Outcome::alone;
  const CpuSet wanted = common(processors, one.original);
  if (wanted.empty()) return Outcome::not_allowed;
  const auto bound = kept_.bound.find(thread);
  const CpuSet before = bound == kept_.bound.end() ? one.original : bound->second.set;
  const Kept kept{one.thread, one.process, one.original, before, wanted, claim};
  const Identity program{one.process, masks_.born(one.process)};
  if (!kept_.programs.contains(one.process)) {
    if (!note_(program_line(program))) return Outcome::not_noted;
    kept_.programs.emplace(one.process, program);
  }
  if (!note_(bind_line(kept))) return Outcome::not_noted;
  const int error = masks_.set_mask(thread, wanted);
  if (error == 0) {
    kept_.bound.insert_or_assign(thread, kept);
    return Outcome::bound;
  }
  if (error == ESRCH) return Outcome::gone;
  let_go(thread);  // what it had from us before
  leave_alone(one);
  return Outcome::refused;
}

int Binder::give_back() {
  const int changed = threads::give_back(kept_, masks_);
  for (const auto& [thread, kept] : kept_.bound) note_(back_line(kept.thread));
  kept_.bound.clear();
  return changed;
}

}  // namespace huddle::threads
