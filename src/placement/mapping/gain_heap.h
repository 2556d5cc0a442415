// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The vertices of one side by what it gains to move them over, the largest gain on top.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace huddle::place {

class GainHeap {
 public:
  explicit GainHeap(int vertices) : position_(static_cast<std::size_t>(vertices), absent) {}

  bool empty() const { return heap_.empty(); }
  int top() const { return heap_.front().vertex; }
  double top_gain() const { return heap_.front().gain; }
  bool contains(int vertex) const { return position_[index(vertex)] != absent; }

  // Takes it in, or corrects its gain.
  void set(int vertex, double gain) {
    std::size_t at = position_[index(vertex)];
    if (at == absent) {
      at = heap_.size();
      heap_.push_back({gain, vertex});
      position_[index(vertex)] = at;
      rise(at);
      return;
    }
    const bool rises = gain > heap_[at].gain;
    heap_[at].gain = gain;
    rises ? rise(at) : sink(at);
  }
  void remove(int vertex) {
    const std::size_t at = position_[index(vertex)];
    if (at == absent) return;
    position_[index(vertex)] = absent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    heap_[at] = last;
    position_[index(last.vertex)] = at;
    rise(at);
    sink(position_[index(last.vertex)]);
  }
  void clear() {
    for (const Entry& entry : heap_) position_[index(entry.vertex)] = absent;
    heap_.clear();
  }

 private:
  struct Entry {
    double gain = 0;
    int vertex = 0;
  };
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);
  static std::size_t index(int vertex) { return static_cast<std::size_t>(vertex); }

  void rise(std::size_t at) {
    const Entry entry = heap_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (heap_[parent].gain >= entry.gain) break;
      place(at, heap_[parent]);
      at = parent;
    }
    place(at, entry);
  }
  void sink(std::size_t at) {
    const Entry entry = heap_[at];
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1].gain > heap_[child].gain) ++child;
      if (entry.gain >= heap_[child].gain) break;
      place(at, heap_[child]);
      at = child;
    }
    place(at, entry);
  }
  void place(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    position_[index(entry.vertex)] = at;
  }

  std::vector<Entry> heap_;
  std::vector<std::size_t> position_;  // in heap_, by vertex
};

}  // namespace huddle::place
