// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "calibrate/cma_probe.h"

#include <algorithm>

#include "calibrate/repeat.h"

namespace huddle::calibrate {
namespace {

// A call costs a microsecond or two whatever its size: some 20 us a sample.
constexpr std::size_t most_calls_a_sample = 16;

}  // namespace

CmaProbe::CmaProbe(Crew& crew, std::span<const int> pus, std::size_t most_bytes)
    : crew_(crew), pus_(pus.begin(), pus.end()), targets_(pus.size()) {
  for (std::size_t i = 0; i < pus_.size(); ++i) {
    const int next = pus_[(i + 1) % pus_.size()];
    peers_.push_back(std::make_unique<PeerProcess>(crew_, next, most_bytes));
  }
  crew_.run(pus_, [&](std::size_t who) {
    targets_[who] = memory::PageBuffer(most_bytes);
    targets_[who].touch();
  });
}

std::string CmaProbe::refusal() const { return why_no_cma(*peers_.front()); }

Samples CmaProbe::time(std::size_t bytes, const Extent& extent, const Budget& budget) {
  const std::size_t calls = std::clamp<std::size_t>(256 * 1024 / bytes, 1, most_calls_a_sample);
  return time_together(crew_, pus_, calls, extent, budget,
                       [&](std::size_t who, std::size_t repeat) {
                         for (std::size_t i = 0; i < repeat; ++i) {
                           read_from_peer(*peers_[who], targets_[who].data(), bytes);
                         }
                       });
}

}  // namespace huddle::calibrate
