// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/handoff_probe.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "common/error.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/cpu.h"
#include "tools/calibrate/pinned_threads.h"

namespace huddle::calibrate {
namespace {

using memory::copy_bytes;
using memory::CopyKernel;
using memory::CopyMethod;
using memory::line_bytes;

// Small blocks are moved in groups of this size, so that the clock does not dominate the sample.
constexpr std::size_t bytes_a_round = 16 * 1024;
std::size_t handoff_room(std::size_t most_bytes) {
  constexpr std::size_t most_blocks = bytes_a_round / line_bytes;
  return std::max(most_bytes, ring_blocks * ring_block_bytes) + bytes_a_round +
         most_blocks * block_distance_bytes;
}

// Resolution of a difference of two clock readings; also avoids times of 0.
constexpr double least_time_ns = 1;

// Returns the minimum time between two readings of the clock.
double clock_cost_ns() {
  constexpr int tries = 64;
  double least = ns_per_ms;
  for (int i = 0; i < tries; ++i) {
    const double start = now_ns();
    least = std::min(least, now_ns() - start);
  }
  return least;
}

// Flags through which the writer and the reader take turns.
struct Turns {
  Flag go;
  Flag taken;
};

// State of a ring. The flags only increase. Each side has a block counter in its own line.
struct Ring {
  Flag filled;
  Flag emptied;
  alignas(false_sharing_bytes) double start_ns = 0;
  alignas(false_sharing_bytes) Count blocks_in = 0;
  alignas(false_sharing_bytes) Count blocks_out = 0;

  static std::size_t slot(Count block) { return (block % ring_blocks) * ring_block_bytes; }
};

// Calls step(offset, bytes) for each block of a message. The last block may be shorter.
template <class Step>
void block_by_block(std::size_t bytes, Step step) {
  for (std::size_t at = 0; at < bytes; at += ring_block_bytes) {
    step(at, std::min(ring_block_bytes, bytes - at));
  }
}

}  // namespace

// Small blocks are in random order: a prefetcher that detects a stride would fetch the next block
// before it is timed.
struct HandoffProbe::Layout {
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::vector<std::size_t> places = {0};

  static Layout many(std::size_t bytes) {
    Layout layout{bytes, std::max<std::size_t>(1, bytes_a_round / bytes), {}};
    layout.places.resize(layout.count);
    std::iota(layout.places.begin(), layout.places.end(), std::size_t{0});
    std::shuffle(layout.places.begin(), layout.places.end(), std::minstd_rand(1));
    return layout;
  }
  std::size_t offset(std::size_t block) const {
    return places[block] * (bytes + block_distance_bytes);
  }
};

struct HandoffProbe::Conversation {
  Layout layout;
  bool at_once = false;  // reader and writer overlap, with a ring between them
  std::function<void(Count)> write;
  std::function<void(Count)> read;
};

HandoffProbe::HandoffProbe(MeasuringThreads& crew, int writer, int reader, std::size_t most_bytes)
    : crew_(crew), writer_(writer), reader_(reader) {
  const std::size_t room = handoff_room(most_bytes);
  crew_.run(std::array{writer, reader}, [&](std::size_t who) {
    if (who == 0) {
      source_ = memory::PageBuffer(room);
      shared_ = memory::PageBuffer(room);
      source_.touch();
      shared_.touch();
    } else {
      target_ = memory::PageBuffer(room);
      target_.touch();
    }
  });
}

// Writes the number of the round to every cache line.
void HandoffProbe::vary_source(const Layout& layout, std::uint32_t round) const {
  for (std::size_t block = 0; block < layout.count; ++block) {
    std::byte* const data = source_.data() + layout.offset(block);
    for (std::size_t at = 0; at + sizeof round <= layout.bytes; at += line_bytes) {
      std::memcpy(data + at, &round, sizeof round);
    }
  }
}

bool HandoffProbe::arrived(const Layout& layout, std::uint32_t round) const {
  const std::byte* const data = target_.data() + layout.offset(layout.count - 1);
  // The last line that has room for the number of the round.
  const std::size_t last_line = (layout.bytes - sizeof round) / line_bytes * line_bytes;
  for (const std::size_t at : {std::size_t{0}, last_line}) {
    std::uint32_t seen = 0;
    std::memcpy(&seen, data + at, sizeof seen);
    if (seen != round) return false;
  }
  return true;
}

// Runs the rounds. The side that measures stores its samples itself.
Samples HandoffProbe::converse(const Conversation& conversation, const Extent& extent,
                               const Budget& budget) {
  const Placed<Turns> turns(crew_, writer_);
  Flag& go = turns->go;
  Flag& taken = turns->taken;
  bool whole = true;
  const auto write_all = [&] {
    const Progress progress(extent, budget);
    for (Count round = 1; round == 1 || progress.wants_more(round - 1); ++round) {
      vary_source(conversation.layout, round);
      if (conversation.at_once) publish(go.value, round);
      conversation.write(round);
      if (!conversation.at_once) publish(go.value, round);
      await(taken.value, round);
    }
    publish(go.value, quit);
  };
  const auto read_all = [&] {
    for (Count round = 1; await(go.value, round) != quit; ++round) {
      conversation.read(round);
      whole = whole && arrived(conversation.layout, round);
      publish(taken.value, round);
    }
  };
  Samples samples;
  samples.threads = crew_.run(std::array{writer_, reader_},
                              [&](std::size_t who) { who == 0 ? write_all() : read_all(); });
  // Reports data that did not arrive instead of a meaningless time.
  if (!whole)
    throw FailureError("a block arrived damaged when it was handed from one core to another");
  return samples;
}

void HandoffProbe::fill(const Layout& layout) const {
  for (std::size_t i = 0; i < layout.count; ++i) {
    const std::size_t at = layout.offset(i);
    copy_bytes(CopyKernel::plain, shared_.data() + at, source_.data() + at, layout.bytes);
  }
}

void HandoffProbe::drain(const Layout& layout, CopyMethod method) const {
  for (std::size_t i = 0; i < layout.count; ++i) {
    const std::size_t at = layout.offset(i);
    copy_out(method, target_.data() + at, shared_.data() + at, layout.bytes);
  }
}

Samples HandoffProbe::time_write(std::size_t bytes, CopyMethod method, const Extent& extent,
                                 const Budget& budget) {
  return method->ownership == memory::LineOwnership::ping_pong
             ? time_write_back(bytes, method, extent, budget)
             : time_write_cached(bytes, method, extent, budget);
}

Samples HandoffProbe::time_write_cached(std::size_t bytes, CopyMethod method, const Extent& extent,
                                        const Budget& budget) {
  const Layout layout = Layout::many(bytes);
  std::vector<double> timed;
  const auto write = [&](Count round) {
    const double start = now_ns();
    for (std::size_t i = 0; i < layout.count; ++i) {
      const std::size_t at = layout.offset(i);
      copy_in(method, shared_.data() + at, source_.data() + at, bytes);
      memory::wait_for_stores();
    }
    // In the first round the reader has not read the lines yet.
    if (round > 1) timed.push_back((now_ns() - start) / static_cast<double>(layout.count));
  };
  const auto read = [&](Count) { drain(layout, method); };
  Samples samples = converse({layout, false, write, read}, extent, budget);
  samples.ns = std::move(timed);
  return samples;
}

Samples HandoffProbe::time_read(std::size_t bytes, CopyMethod method, const Extent& extent,
                                const Budget& budget) {
  const Layout layout = Layout::many(bytes);
  const double clock_ns = clock_cost_ns();
  std::vector<double> timed;
  const auto write = [&](Count) { fill(layout); };
  // Times each block separately. In one timed loop the CPU would overlap the cache misses of
  // several blocks, which is impossible for a reader of a single block.
  const auto read = [&](Count round) {
    double sum = 0;
    for (std::size_t i = 0; i < layout.count; ++i) {
      const std::size_t at = layout.offset(i);
      const double start = now_ns();
      copy_out(method, target_.data() + at, shared_.data() + at, bytes);
      sum += std::max(least_time_ns, now_ns() - start - clock_ns);
    }
    if (round > 1) timed.push_back(sum / static_cast<double>(layout.count));
  };
  Samples samples = converse({layout, false, write, read}, extent, budget);
  samples.ns = std::move(timed);
  return samples;
}

Samples HandoffProbe::time_write_back(std::size_t bytes, CopyMethod method, const Extent& extent,
                                      const Budget& budget) {
  const Layout layout = Layout::many(bytes);
  std::vector<double> timed;
  const auto write = [&](Count) { fill(layout); };
  const auto read = [&](Count round) {
    drain(layout, method);
    const double start = now_ns();
    for (std::size_t i = 0; i < layout.count; ++i) {
      const std::size_t at = layout.offset(i);
      copy_in(method, shared_.data() + at, target_.data() + at, bytes);
      memory::wait_for_stores();
    }
    if (round > 1) timed.push_back((now_ns() - start) / static_cast<double>(layout.count));
  };
  Samples samples = converse({layout, false, write, read}, extent, budget);
  samples.ns = std::move(timed);
  return samples;
}

Samples HandoffProbe::time_ring(std::size_t bytes, CopyMethod method, const Extent& extent,
                                const Budget& budget) {
  const Placed<Ring> ring(crew_, writer_);
  Count& filled = ring->blocks_in;
  Count& emptied = ring->blocks_out;
  std::vector<double> timed;
  const auto write = [&](Count) {
    const double start = now_ns();
    block_by_block(bytes, [&](std::size_t at, std::size_t n) {
      if (filled >= ring_blocks) await(ring->emptied.value, filled - ring_blocks + 1);
      copy_in(method, shared_.data() + Ring::slot(filled), source_.data() + at, n);
      if (at == 0) ring->start_ns = start;
      publish(ring->filled.value, ++filled);
    });
  };
  const auto read = [&](Count round) {
    block_by_block(bytes, [&](std::size_t at, std::size_t n) {
      await(ring->filled.value, emptied + 1);
      copy_out(method, target_.data() + at, shared_.data() + Ring::slot(emptied), n);
      publish(ring->emptied.value, ++emptied);
    });
    if (round > 1) timed.push_back(now_ns() - ring->start_ns);
  };
  Samples samples = converse({Layout{bytes, 1, {0}}, true, write, read}, extent, budget);
  samples.ns = std::move(timed);
  return samples;
}

namespace {

using machine::HandoffPart;

bool names(memory::CopyMethod method, std::string_view curve) {
  const std::array named = {method->write_curve, method->read_curve, method->ring_curve,
                            method->own_curve};
  return std::find(named.begin(), named.end(), curve) != named.end();
}

}  // namespace

std::vector<CopyMethodCurve> copy_method_curves() {
  std::vector<CopyMethodCurve> curves;
  for (std::size_t i = 0; i < machine::handoff_names.size(); ++i) {
    const auto method =
        std::find_if(memory::all_copy_methods.begin(), memory::all_copy_methods.end(),
                     [&](memory::CopyMethod one) { return names(one, machine::handoff_names[i]); });
    if (method == memory::all_copy_methods.end()) continue;
    curves.push_back({static_cast<machine::HandoffKind>(i), *method});
  }
  return curves;
}

Samples time_handoff(HandoffProbe& probe, const CopyMethodCurve& curve, std::size_t bytes,
                     const Extent& extent, const Budget& budget) {
  switch (facts_of(curve.kind).part) {
    case HandoffPart::write:
      return probe.time_write(bytes, curve.method, extent, budget);
    case HandoffPart::read:
      return probe.time_read(bytes, curve.method, extent, budget);
    case HandoffPart::ring:
      return probe.time_ring(bytes, curve.method, extent, budget);
  }
  return {};
}

}  // namespace huddle::calibrate
