// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/judge.h"

#include <algorithm>

#include "common/median.h"
#include "tools/calibrate/statistics.h"

namespace huddle::bench {
namespace {

double ratio(const Judgement& judgement, double subject_ns, double rival_ns) {
  switch (judgement.bar.kind) {
    case Bar::Kind::time_at_most:
      return subject_ns / rival_ns;
    case Bar::Kind::rate_at_least:
      return judgement.subject_bytes / subject_ns / (judgement.rival_bytes / rival_ns);
  }
  return 0;
}

bool holds(const Bar& bar, double ratio) {
  switch (bar.kind) {
    case Bar::Kind::time_at_most:
      return ratio <= bar.limit;
    case Bar::Kind::rate_at_least:
      return ratio >= bar.limit;
  }
  return false;
}

}  // namespace

Verdict judge(const Judgement& judgement, const std::vector<EntryResult>& entries) {
  const auto median = [&](std::size_t entry) { return median_of(entries[entry].ns); };
  Verdict verdict{.what = judgement.what,
                  .subject = judgement.subject,
                  .rival = *std::min_element(
                      judgement.rivals.begin(), judgement.rivals.end(),
                      [&](std::size_t a, std::size_t b) { return median(a) < median(b); }),
                  .bar = judgement.bar,
                  .subject_bytes = judgement.subject_bytes,
                  .rival_bytes = judgement.rival_bytes,
                  .ratios = {}};
  const auto& subject_ns = entries[verdict.subject].ns;
  const auto& rival_ns = entries[verdict.rival].ns;
  for (std::size_t round = 0; round < subject_ns.size(); ++round) {
    verdict.ratios.push_back(ratio(judgement, subject_ns[round], rival_ns[round]));
  }
  const calibrate::Summary summary = calibrate::summarize(verdict.ratios);
  verdict.median = summary.median;
  verdict.spread = summary.spread;
  verdict.holds = holds(verdict.bar, verdict.median);
  return verdict;
}

}  // namespace huddle::bench
