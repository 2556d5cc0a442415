// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Decides whether `huddle map` recommends its placement.
#include <fmt/format.h>

#include <cmath>

#include "common/text.h"
#include "placement/mapping/bandwidth.h"
#include "tools/cli/map_report.h"

namespace huddle::cli {
namespace {

constexpr std::string_view leave = "leave it as it is: ";

std::string elements_text(const MapSubject& subject) {
  return counted(subject.matrix.size(), place::element_word(subject.matrix.kind));
}

std::string events_text(const place::Events& events) {
  return counted(std::llround(events.total()), "sampled event");
}

MapVerdict staying(std::string why) { return {false, std::string(leave) + std::move(why)}; }

}  // namespace

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

place::Finding finding_of(const MapSubject& subject) {
  return subject.matrix.events ? examine(*subject.matrix.events, place::EvidenceLimits())
                               : place::Finding::sufficient;
}

std::string evidence_text(const MapSubject& subject) {
  switch (finding_of(subject)) {
    case place::Finding::sufficient:
      return "";
    case place::Finding::too_few_events:
      return fmt::format("{} cannot place {}: at least {:g} are needed; profile a longer run",
                         events_text(*subject.matrix.events), elements_text(subject),
                         place::EvidenceLimits().least_events_an_element * subject.matrix.size());
    case place::Finding::all_alike:
      return fmt::format("all pairs of {} share about equally, as far as {} can show",
                         elements_text(subject), events_text(*subject.matrix.events));
  }
  return "";
}

double gain(const MapSubject& subject, const Placed& placed) {
  if (subject.before.hop_bytes == 0) return 0;
  return 1 - placed.quality.hop_bytes / subject.before.hop_bytes;
}

double certain_gain(const MapSubject& subject, const Placed& placed) {
  if (!subject.matrix.events) return gain(subject, placed);
  const place::Problem& problem = subject.problem;
  return gain_of(*subject.matrix.events, problem.tree, problem.present, placed.mapped.mapping)
      .least_share(place::EvidenceLimits());
}

MapVerdict verdict_on(const MapSubject& subject, const Placed& placed) {
  if (subject.before.hop_bytes == 0) return {false, "nothing to gain: no two elements communicate"};
  if (finding_of(subject) != place::Finding::sufficient) return staying(evidence_text(subject));
  const double saved = gain(subject, placed);
  if (saved <= 0) return staying("no better placement was found");
  const std::string saved_text = percent_text(saved) + " of the hop-bytes saved";
  const std::string too_little =
      fmt::format("less than --least-gain {:g} %", 100 * subject.least_gain);
  if (saved < subject.least_gain) return staying(saved_text + " is " + too_little);
  const double certain = certain_gain(subject, placed);
  if (certain <= 0 || certain < subject.least_gain) {
    return staying(fmt::format("{}, of which only {} is certain with {}: {}", saved_text,
                               percent_text(certain), events_text(*subject.matrix.events),
                               too_little));
  }
  return {true, saved_text};
}

std::string bandwidth_text(double gb_per_s) { return fmt::format("{:.3g} GB/s", gb_per_s); }

std::string bandwidth_warning(const MapSubject& subject, const Placed& placed) {
  const std::optional<double> balanced = subject.bandwidth.balanced;
  if (!placed.memory_gb_per_s || !balanced) return "";
  // Smaller losses are within what copies are measured to.
  if (*placed.memory_gb_per_s >= place::least_bandwidth_kept * *balanced) return "";
  return fmt::format(
      "this placement can use {} of memory bandwidth; shared out over all sockets and NUMA nodes, "
      "the {} could use {}",
      bandwidth_text(*placed.memory_gb_per_s), elements_text(subject), bandwidth_text(*balanced));
}

}  // namespace huddle::cli
