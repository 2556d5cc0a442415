// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compares huddle's placement algorithms with Scotch's mapping of the same graphs onto the same
// tree: place_bench [SMALLEST [LARGEST [ROUNDS]]]. One process, one thread. Scotch runs with
// balance 0, because it would otherwise put two elements into one slot. Its time includes building
// its graph. place_bench recordings: predicts the communication time of recorded threads, by
// placement.
#include <fmt/format.h>
#include <scotch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/method.h"
#include "placement/mapping/random.h"
#include "placement/threads/agent.h"
#include "placement/threads/playback.h"
#include "placement/threads/recording.h"

namespace huddle::mapping {
namespace {

// Returns the CPU time of this thread, because other programs may be running.
double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Returns the result of the last round and the shortest time.
template <typename Call>
std::pair<Mapping, double> timed(int rounds, const Call& call) {
  Mapping mapping;
  double best_ms = 0;
  for (int round = 0; round < rounds; ++round) {
    const double start_ms = thread_ms();
    mapping = call();
    const double took_ms = thread_ms() - start_ms;
    if (round == 0 || took_ms < best_ms) best_ms = took_ms;
  }
  return {std::move(mapping), best_ms};
}

void check(int status, const char* what) {
  if (status == 0) return;
  fmt::print(stderr, "Scotch: {} failed\n", what);
  std::exit(1);
}

// The tree in Scotch's form: the number of children of an object and the cost of crossing it, by
// level. Scotch's costs are integers.
struct ScotchTree {
  std::vector<SCOTCH_Num> children;
  std::vector<SCOTCH_Num> costs;
};

ScotchTree scotch_tree(const SlotTree& tree) {
  ScotchTree result;
  std::vector<double> ns;
  const Object* object = &tree.root();
  while (!object->is_leaf()) {
    result.children.push_back(static_cast<SCOTCH_Num>(object->children.size()));
    ns.push_back(tree.levels()[static_cast<std::size_t>(object->level)].ns);
    object = &tree.objects()[static_cast<std::size_t>(object->children.front())];
  }
  for (const double one : ns) {
    result.costs.push_back(std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(std::lround(one))));
  }
  return result;
}

Mapping by_scotch(const MappingProblem& problem, const ScotchTree& target) {
  SCOTCH_randomReset();
  const Graph& graph = problem.graph;
  std::vector<SCOTCH_Num> rows(graph.offsets.begin(), graph.offsets.end());
  std::vector<SCOTCH_Num> neighbours(graph.neighbours.begin(), graph.neighbours.end());
  std::vector<SCOTCH_Num> loads;
  // Scotch's weights and the sums of them are 32-bit integers.
  const double all = std::max(1.0, total_bytes(graph));
  const double largest = *std::max_element(graph.bytes.begin(), graph.bytes.end());
  const double unit = std::max({1.0, all / 1e8, largest / 1e8});
  for (const double bytes : graph.bytes) {
    loads.push_back(std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(std::lround(bytes / unit))));
  }
  SCOTCH_Graph sgraph;
  check(SCOTCH_graphInit(&sgraph), "graphInit");
  check(SCOTCH_graphBuild(&sgraph, 0, graph.size(), rows.data(), nullptr, nullptr, nullptr,
                          static_cast<SCOTCH_Num>(neighbours.size()), neighbours.data(),
                          loads.data()),
        "graphBuild");
  SCOTCH_Arch arch;
  check(SCOTCH_archInit(&arch), "archInit");
  check(SCOTCH_archTleaf(&arch, static_cast<SCOTCH_Num>(target.children.size()),
                         target.children.data(), target.costs.data()),
        "archTleaf");
  SCOTCH_Strat strategy;
  check(SCOTCH_stratInit(&strategy), "stratInit");
  check(SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATDEFAULT, problem.tree.size(), 0.0),
        "stratGraphMapBuild");
  std::vector<SCOTCH_Num> parts(static_cast<std::size_t>(graph.size()));
  check(SCOTCH_graphMap(&sgraph, &arch, &strategy, parts.data()), "graphMap");
  SCOTCH_stratExit(&strategy);
  SCOTCH_archExit(&arch);
  SCOTCH_graphExit(&sgraph);
  return {parts.begin(), parts.end()};
}

class Sums {
 public:
  void add(double cost_ratio, double time_ratio, double greedy_time_ratio) {
    log_cost_ += std::log(cost_ratio);
    log_time_ += std::log(time_ratio);
    worst_cost_ = std::max(worst_cost_, cost_ratio);
    worst_time_ = std::max(worst_time_, time_ratio);
    worst_greedy_time_ = std::max(worst_greedy_time_, greedy_time_ratio);
    ++count_;
  }
  void print() const {
    fmt::print(
        "\n{} graphs. Hop-bytes of tree / Scotch: geometric mean {:.3f}, worst {:.3f}. Time of "
        "tree / "
        "Scotch: geometric mean {:.2f}, worst {:.2f}. lh at least {:.0f} times faster than "
        "Scotch.\n",
        count_, std::exp(log_cost_ / count_), worst_cost_, std::exp(log_time_ / count_),
        worst_time_, 1 / worst_greedy_time_);
  }

 private:
  double log_cost_ = 0, log_time_ = 0;
  double worst_cost_ = 0, worst_time_ = 0, worst_greedy_time_ = 0;
  int count_ = 0;
};

machine::Machine machine_file(const std::string& name) {
  return machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/" + name + ".toml");
}

// Returns a tree of the nodes of this machine that `elements` need with one element per core. If
// one node has enough cores, it contains only the first `elements` of them.
SlotTree tree_for(const machine::CostModel& model, int elements) {
  const int cores = core_count(model.machine().topology);
  std::vector<int> pus = first_pu_of_cores(model.machine().topology);
  if (elements < cores) pus.resize(static_cast<std::size_t>(elements));
  const int nodes = (elements + cores - 1) / cores;
  return {model, {pus, nodes, model.message_ns(model.machine().line_bytes, 0)}};
}

MappingProblem in_order_on(const Graph& graph, const SlotTree& tree) {
  MappingProblem problem{
      graph, tree, Mapping(static_cast<std::size_t>(graph.size()), no_slot), {}, 1};
  problem.present = in_order(problem);
  return problem;
}

void compare(Pattern pattern, bool shuffle, int size, int rounds, const SlotTree& tree,
             Sums& sums) {
  const Graph plain = graph_of(pattern, size, 1);
  const Graph graph = shuffle ? shuffled(plain, 7) : plain;
  const MappingProblem problem = in_order_on(graph, tree);
  const ScotchTree target = scotch_tree(tree);
  const auto [scotch, scotch_ms] = timed(rounds, [&] { return by_scotch(problem, target); });
  const auto [ours, ours_ms] = timed(rounds, [&] { return tree_mapping(problem).mapping; });
  const auto [greedy, greedy_ms] = timed(rounds, [&] { return lh(problem); });
  const double base = hop_bytes(problem, scotch);
  const std::string flaw = flaw_of(problem, scotch);
  const double ratio = hop_bytes(problem, ours) / base;
  fmt::print("| {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |{}\n",
             pattern_names[static_cast<std::size_t>(pattern)], size,
             shuffle ? "shuffled" : "in order", hop_bytes(problem, problem.present) / base,
             hop_bytes(problem, greedy) / base, ratio, greedy_ms, ours_ms, scotch_ms,
             flaw.empty() ? "" : " Scotch: " + flaw);
  if (!flaw.empty()) return;
  sums.add(ratio, ours_ms / scotch_ms, greedy_ms / scotch_ms);
}

void compare_with_scotch(int smallest, int largest, int rounds) {
  const machine::Machine epyc = machine_file("epyc-2x64-estimate");
  const machine::Machine small = machine::generic_machine(
      machine::discover_from_synthetic("pack:2 l3:2 core:2 pu:1").topology);
  fmt::print(
      "| pattern | elements | numbered | order | lh | tree | lh ms | tree ms | Scotch ms |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  Sums sums;
  for (int size = smallest; size <= largest; size *= 8) {
    const machine::CostModel model(size == 8 ? small : epyc);
    const SlotTree tree = tree_for(model, size);
    for (std::size_t pattern = 0; pattern < pattern_names.size(); ++pattern) {
      for (const bool shuffle : {false, true}) {
        compare(static_cast<Pattern>(pattern), shuffle, size, rounds, tree, sums);
      }
    }
  }
  sums.print();
}

// Slabs of a solver: each thread shares most data with its neighbours and a little with every other
// thread, because one of three directions is solved across all slabs.
Graph solver(int threads, bool shuffle) {
  GraphBuilder builder(threads);
  Random random(2020);
  for (int a = 0; a < threads; ++a) {
    for (int b = a + 1; b < threads; ++b) {
      const double near = b == a + 1 ? 1000 : b == a + 2 ? 200 : 0;
      builder.add({a, b, std::round(near + 20 + 20 * random.fraction())});
    }
  }
  const Graph graph = builder.finish();
  return shuffle ? shuffled(graph, 7) : graph;
}

// Repeats the comparison of the thesis that introduced lh: 4 to 64 threads of a solver on 80 cores.
void compare_with_the_thesis(int rounds) {
  const machine::Machine machine = machine_file("xeon-e7-8850-8s");
  const machine::CostModel model(machine);
  const SlotTree tree(model, {machine.topology.pus.cpus(), 1, 0});
  const ScotchTree target = scotch_tree(tree);
  fmt::print(
      "\n| threads | numbered | lh ms | Scotch ms | Scotch / lh | published | accuracy lh / Scotch "
      "| "
      "tree / Scotch | published |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const int threads : {4, 8, 16, 64}) {
    for (const bool shuffle : {false, true}) {
      const Graph graph = solver(threads, shuffle);
      const MappingProblem problem = in_order_on(graph, tree);
      const auto [scotch, scotch_ms] = timed(rounds, [&] { return by_scotch(problem, target); });
      const auto [greedy, greedy_ms] = timed(rounds, [&] { return lh(problem, Spread::evenly); });
      const Mapping ours = tree_mapping(problem).mapping;
      const double base = quality_of(problem, scotch).accuracy;
      fmt::print("| {} | {} | {:.4f} | {:.4f} | {:.1f} | 2 to 4 | {:.2f} | {:.2f} | {} |{}\n",
                 threads, shuffle ? "shuffled" : "in order", greedy_ms, scotch_ms,
                 scotch_ms / greedy_ms, quality_of(problem, greedy).accuracy / base,
                 quality_of(problem, ours).accuracy / base, threads == 64 ? "0.84" : "-",
                 flaw_of(problem, scotch).empty() ? "" : " Scotch: " + flaw_of(problem, scotch));
    }
  }
}

// Returns the predicted communication time of the threads if Scotch places them on `processors`.
double scotch_ns(const threads::Recording& recording, const Graph& counts,
                 const machine::CostModel& model, const std::vector<int>& processors) {
  const SlotTree tree(model, {processors, 1, 0});
  const MappingProblem problem = in_order_on(counts, tree);
  const Mapping mapping = by_scotch(problem, scotch_tree(tree));
  if (const std::string flaw = flaw_of(problem, mapping); !flaw.empty()) {
    fmt::print(stderr, "Scotch: {}\n", flaw);
    std::exit(1);
  }
  return threads::communication_ns(counts, model, threads::processors_of(tree, mapping),
                                   recording.page_bytes);
}

// Prints predicted times of recorded threads on the machines of some machine files, relative to the
// placement in order of thread number. Scotch spreads load evenly over all processors that it is
// given. It runs with all cores of the machine, and with one neighbouring core per thread.
void compare_on_recordings() {
  fmt::print(
      "| kernel | machine | order | compact | spread | lh | tree | Scotch | Scotch, as many cores "
      "| huddle, settled | most often |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const char* kernel : {"sp", "lu", "cg", "ft", "is", "ep", "mg"}) {
    const std::string file =
        fmt::format("{}/tests/placement/threads/recordings/{}.touches", HUDDLE_SOURCE_DIR, kernel);
    if (!std::filesystem::exists(file)) continue;
    const threads::Recording recording = threads::read_recording(file);
    for (const char* name : {"xeon-e7-8850-8s", "epyc-2x64-estimate", "lu-pc-2x4"}) {
      const machine::Machine machine = machine_file(name);
      const machine::CostModel model(machine);
      const threads::Playback playback =
          threads::play(recording, model, threads::Start::spread,
                        {.memory = threads::Memory::ignored});  // as published
      const std::vector<int> cores = first_pu_of_cores(machine.topology);
      const std::vector<int> some(cores.begin(), cores.begin() + playback.counts.size());
      const double base = playback.standing_ns("order");
      fmt::print("| {} | {}", kernel, name);
      for (const threads::PlacementTime& one : playback.standing) {
        fmt::print(" | {:.2f}", one.ns / base);
      }
      fmt::print(" | {:.2f} | {:.2f} | {:.2f} | {} |\n",
                 scotch_ns(recording, playback.counts, model, cores) / base,
                 scotch_ns(recording, playback.counts, model, some) / base,
                 playback.settled_ns / base, threads::name_of(playback.verdict()));
    }
  }
}

}  // namespace
}  // namespace huddle::mapping

int main(int argc, char** argv) {
  setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
  const auto argument = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  if (argc > 1 && std::string_view(argv[1]) == "recordings") {
    huddle::mapping::compare_on_recordings();
    return 0;
  }
  huddle::mapping::compare_with_scotch(argument(1, 8), argument(2, 4096), argument(3, 3));
  huddle::mapping::compare_with_the_thesis(argument(3, 3));
  return 0;
}
