// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

Summary summary_of(const Samples& samples) {
  Summary whole = summarize(samples.ns);
  for (const auto& ns : samples.further_ns) whole = slowest_and_worst(whole, summarize(ns));
  return whole;
}

Measured measure(const Tolerance& tolerance, const Budget& budget,
                 const std::function<Samples(const Budget&)>& attempt) {
  Measured best;
  for (int tries = 1; tries <= 1 + most_repetitions; ++tries) {
    const Samples samples = attempt(budget);
    Measured now;
    now.summary = summary_of(samples);
    now.verdict = judge(now.summary, samples.threads, tolerance);
    now.threads = samples.threads;
    const bool better =
        now.usable() && (!best.usable() || now.verdict.badness < best.verdict.badness);
    if (better) best = now;
    best.attempts = tries;
    if ((best.usable() && best.verdict.steady()) || budget.spent()) break;
  }
  return best;
}

}  // namespace huddle::calibrate
