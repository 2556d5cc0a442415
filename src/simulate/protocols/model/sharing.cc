// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/protocols/model/sharing.h"

#include <algorithm>
#include <utility>

namespace huddle::predict::model {
namespace {

std::size_t index(int number) { return static_cast<std::size_t>(number); }

// What differs by rounding alone is equal.
constexpr double rounding = 1 + 1e-12;

}  // namespace

Sharing::Sharing(std::vector<double> gb_per_s)
    : gb_per_s_(std::move(gb_per_s)),
      passed_bytes_(gb_per_s_.size()),
      full_(gb_per_s_.size()),
      free_(gb_per_s_.size()),
      asked_(gb_per_s_.size()) {}

void Sharing::begin(int copy, double now_ns, double bytes, double alone_ns,
                    const std::vector<Load>& loads) {
  advance(now_ns);
  const auto at = std::lower_bound(open_.begin(), open_.end(), copy,
                                   [](const Open& one, int number) { return one.copy < number; });
  Open fresh{copy, bytes, bytes / alone_ns, 0, {}};
  for (const Load& load : loads) fresh.loads.push_back({load.resource, load.bytes / bytes});
  open_.insert(at, std::move(fresh));
  is_shared_ = false;
}

void Sharing::advance(double now_ns) {
  const double passed_ns = now_ns - now_ns_;
  if (passed_ns <= 0) return;
  if (!is_shared_) share();
  now_ns_ = now_ns;
  for (Open& one : open_) {
    const double bytes = std::min(one.left_bytes, one.gb_per_s * passed_ns);
    one.left_bytes -= bytes;
    for (const Load& load : one.loads) passed_bytes_[index(load.resource)] += bytes * load.bytes;
  }
}

void Sharing::set(Open& one, double gb_per_s) {
  one.gb_per_s = gb_per_s;
  for (const Load& load : one.loads) {
    free_[index(load.resource)] -= load.bytes * gb_per_s;
    asked_[index(load.resource)] -= load.bytes;
  }
}

// All grow at the same pace until one is as fast as it would be alone, or a resource is full: then
// those are set, and the others go on with what is left.
void Sharing::share() {
  is_shared_ = true;
  touched_.clear();
  unset_.resize(open_.size());
  for (std::size_t i = 0; i < open_.size(); ++i) {
    unset_[i] = i;
    for (const Load& load : open_[i].loads) {
      double& asked = asked_[index(load.resource)];
      if (asked == 0) {
        touched_.push_back(load.resource);
        free_[index(load.resource)] = gb_per_s_[index(load.resource)];
      }
      asked += load.bytes;
    }
  }
  while (!unset_.empty()) {
    double pace = never;
    for (const int resource : touched_) {
      const double asked = asked_[index(resource)];
      if (asked > 1e-9) pace = std::min(pace, std::max(0.0, free_[index(resource)]) / asked);
    }
    const auto set_where = [&](auto is_held) {
      const std::size_t before = unset_.size();
      std::erase_if(unset_, [&](std::size_t i) {
        const double most = is_held(open_[i]);
        if (most < 0) return false;
        set(open_[i], most);
        return true;
      });
      return unset_.size() < before;
    };
    if (set_where([&](const Open& one) {
          return one.most_gb_per_s <= pace * rounding ? one.most_gb_per_s : -1;
        })) {
      continue;
    }
    // Which are full is looked at before anything is taken from them.
    std::vector<char>& full = full_;
    full.assign(free_.size(), 0);
    for (const int resource : touched_) {
      const bool is_full = pace * asked_[index(resource)] * rounding >= free_[index(resource)];
      full[index(resource)] = is_full ? 1 : 0;
    }
    set_where([&](const Open& one) {
      const bool is_held = std::any_of(one.loads.begin(), one.loads.end(), [&](const Load& load) {
        return full[index(load.resource)] != 0;
      });
      return is_held ? pace : -1;
    });
  }
  for (const int resource : touched_) asked_[index(resource)] = 0;
  next_end_ns_ = never;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const double end_ns = now_ns_ + open_[i].left_bytes / open_[i].gb_per_s;
    if (end_ns >= next_end_ns_) continue;
    next_end_ns_ = end_ns;
    next_ = i;
  }
}

double Sharing::next_end_ns() {
  if (open_.empty()) return never;
  if (!is_shared_) share();
  return next_end_ns_;
}

int Sharing::finish_next() {
  const double end_ns = next_end_ns();
  advance(std::max(now_ns_, end_ns));
  Open& done = open_[next_];
  for (const Load& load : done.loads) {
    passed_bytes_[index(load.resource)] += done.left_bytes * load.bytes;
  }
  const int copy = done.copy;
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(next_));
  is_shared_ = false;
  return copy;
}

}  // namespace huddle::predict::model
