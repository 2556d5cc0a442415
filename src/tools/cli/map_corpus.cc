// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/map_corpus.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "placement/mapping/patterns.h"
#include "tools/cli/map_task.h"

namespace huddle::cli {
namespace {

using place::Method;

constexpr std::array sizes = {8, 64, 512, 4096};
constexpr std::array methods = {Method::compact, Method::scatter, Method::lh, Method::tree};
constexpr std::uint64_t shuffle_seed = 7;

std::string row(const machine::CostModel& model, const place::Graph& graph) {
  // Methods differ only if they can choose between more slots than there are elements.
  const place::SlotTree tree = slot_tree(model, {.elements = graph.size(), .packs = true});
  const place::Problem problem = problem_of(graph, tree, {});
  const double before = hop_bytes(problem, problem.present);
  std::string text;
  std::string times;
  for (const Method method : methods) {
    const Placed placed = place_by(problem, {method, false});
    text += fmt::format(" {:.3f} |", placed.quality.hop_bytes / before);
    if (method == Method::lh || method == Method::tree) {
      times += fmt::format(" {:.3g} |", placed.took_ms);
    }
  }
  return text + times;
}

}  // namespace

void print_map_corpus(const machine::Machine* machine, const Console& console) {
  console.print(
      "| pattern | elements | numbered | compact | scatter | lh | tree | lh ms | tree ms |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const int size : sizes) {
    for (std::size_t p = 0; p < place::pattern_names.size(); ++p) {
      for (const bool shuffle : {false, true}) {
        std::string line = fmt::format("| {} | {} | {} |", place::pattern_names[p], size,
                                       shuffle ? "shuffled" : "in order");
        if (machine != nullptr) {
          place::Graph graph = place::graph_of(static_cast<place::Pattern>(p), size, 1);
          if (shuffle) graph = place::shuffled(graph, shuffle_seed);
          line += row(machine::CostModel(*machine), graph);
        }
        console.print(line + "\n");
      }
    }
  }
}

}  // namespace huddle::cli
