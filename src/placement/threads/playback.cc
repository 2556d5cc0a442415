// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/playback.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "common/arithmetic.h"
#include "placement/mapping/method.h"
#include "placement/mapping/slots.h"
#include "placement/threads/agent.h"

namespace huddle::threads {
namespace {

// A tree of all hardware threads, as threads may use any of them.
mapping::SlotTree whole_tree(const machine::CostModel& model) {
  return {model, {model.machine().topology.pus.cpus(), 1, 0}};
}

// A tree of the hardware threads that the agent would choose: one per core if these suffice.
mapping::SlotTree tree_for(const machine::CostModel& model, int threads) {
  const machine::Topology& topology = model.machine().topology;
  return {model, {mapping::chosen_pus(topology, topology.pus, {}, threads, 1), 1, 0}};
}

mapping::Method method_of(Start start) {
  switch (start) {
    case Start::order:
      return mapping::Method::order;
    case Start::compact:
      return mapping::Method::compact;
    case Start::spread:
      return mapping::Method::scatter;
  }
  return mapping::Method::order;
}

// Returns the hardware threads on which `method` places the threads of `counts`. Methods that
// ignore communication use only its size.
std::vector<int> placed(const machine::CostModel& model, const mapping::Graph& counts,
                        mapping::Method method, Start start) {
  const mapping::SlotTree tree = tree_for(model, counts.size());
  mapping::MappingProblem problem{
      counts, tree, mapping::Mapping(at(counts.size()), mapping::no_slot), {}, 1};
  problem.present = mapping::map_by(problem, {method_of(start), false}).mapping;
  return processors_of(tree, mapping::map_by(problem, {method, false}).mapping);
}

mapping::Graph nothing_between(int threads) { return mapping::GraphBuilder(threads).finish(); }

double lines_a_page(const machine::CostModel& model, std::uint32_t page_bytes) {
  return static_cast<double>(page_bytes) / model.machine().line_bytes;
}

// Sums up the cost of a run in which threads move.
class Course {
 public:
  Course(const machine::CostModel& model, std::vector<int> threads, std::vector<int> assignments)
      : tree_(whole_tree(model)),
        threads_(std::move(threads)),
        assignments_(std::move(assignments)) {}

  // Adds the cost of the events since the last call, at the current placement.
  void count(const SharingMatrix& whole) {
    mapping::GraphBuilder builder(static_cast<int>(threads_.size()));
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        double& before = before_[{threads_[i], threads_[j]}];
        const double now = whole.at(threads_[i], threads_[j]);
        if (now > before) builder.add({static_cast<int>(j), static_cast<int>(i), now - before});
        before = now;
      }
    }
    ns_ += communication_cost_ns(builder.finish(), tree_, assignments_);
  }
  void move(const Decision& decision) {
    for (std::size_t i = 0; i < decision.threads.size(); ++i) {
      const auto place = std::find(threads_.begin(), threads_.end(), decision.threads[i]);
      if (place != threads_.end())
        assignments_[at(static_cast<int>(place - threads_.begin()))] = decision.wanted[i];
    }
  }
  double ns() const { return ns_; }
  const std::vector<int>& assignments() const { return assignments_; }

 private:
  mapping::SlotTree tree_;
  std::vector<int> threads_, assignments_;
  std::map<std::pair<int, int>, double> before_;
  double ns_ = 0;
};

}  // namespace

void WorkingThreads::take(const Look& look) {
  for (const int thread : look.reused) used_ns_.erase(thread);
  for (const ThreadUse& use : look.threads) used_ns_[use.thread] = use.cpu_ns;
}

std::vector<int> WorkingThreads::threads() const {
  constexpr double least_share = 0.1;
  std::uint64_t most_ns = 0;
  for (const auto& [thread, ns] : used_ns_) most_ns = std::max(most_ns, ns);
  std::vector<int> threads;
  for (const auto& [thread, ns] : used_ns_) {
    if (static_cast<double>(ns) >= least_share * static_cast<double>(most_ns)) {
      threads.push_back(thread);
    }
  }
  return threads;
}

std::vector<int> threads_at_work(const Events& events) {
  WorkingThreads working;
  for (const auto& event : events) {
    if (const auto* const look = std::get_if<Look>(&event)) working.take(*look);
  }
  return working.threads();
}

std::optional<Start> start_named(std::string_view name) {
  const auto found = std::find(start_names.begin(), start_names.end(), name);
  if (found == start_names.end()) return std::nullopt;
  return static_cast<Start>(found - start_names.begin());
}

Events seated(Events events, const machine::CostModel& model, Start start) {
  const std::vector<int> threads = threads_at_work(events);
  const int room = model.machine().topology.pus.count();
  const int assignments = std::min(static_cast<int>(threads.size()), room);
  if (assignments == 0) return events;
  const std::vector<int> processors =
      placed(model, nothing_between(assignments), method_of(start), start);
  const auto seat_of = [&](int thread) {
    const auto place = std::find(threads.begin(), threads.end(), thread);
    const std::size_t number =
        place == threads.end() ? at(thread) : at(static_cast<int>(place - threads.begin()));
    return processors[number % processors.size()];
  };
  for (auto& event : events) {
    auto* const look = std::get_if<Look>(&event);
    if (look == nullptr) continue;
    for (ThreadUse& use : look->threads) use.processor = seat_of(use.thread);
  }
  return events;
}

double communication_ns(const mapping::Graph& counts, const machine::CostModel& model,
                        const std::vector<int>& processors, std::uint32_t page_bytes) {
  return communication_cost_ns(counts, whole_tree(model), processors) *
         lines_a_page(model, page_bytes);
}

double Playback::standing_ns(std::string_view name) const {
  for (const PlacementTime& one : standing) {
    if (one.name == name) return one.ns;
  }
  return 0;
}

Reason Playback::verdict() const {
  std::map<Reason, int> times;
  for (const Decision& one : decisions) ++times[one.reason];
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? Reason::one_thread : most->first;
}

Playback play(const Recording& recording, const machine::CostModel& model, Start start,
              AgentOptions options) {
  options.page_bytes = recording.page_bytes;
  options.rounds = recording.rounds;
  const machine::CpuSet& pus = model.machine().topology.pus;
  const Events events = seated(recording.events, model, start);
  Playback playback;
  playback.threads = threads_at_work(events);
  playback.start = start;
  Agent agent(model, pus, options);
  const int threads = static_cast<int>(playback.threads.size());
  if (threads < 2 || threads > pus.count()) {
    playback.decisions = replay(events, agent);
    playback.counts = agent.whole().graph(playback.threads);
    return playback;
  }
  Course course(model, playback.threads,
                placed(model, nothing_between(threads), method_of(start), start));
  for (const auto& event : events) {
    if (const auto* const touch = std::get_if<Touch>(&event)) {
      agent.take(*touch);
      continue;
    }
    std::optional<Decision> decision = agent.take(std::get<Look>(event));
    if (!decision) continue;
    course.count(agent.whole());
    if (decision->reason == Reason::move) {
      course.move(*decision);
      playback.moving_ns += decision->cost_s * 1e9;
      ++playback.moves;
    }
    playback.decisions.push_back(std::move(*decision));
  }
  course.count(agent.whole());
  playback.agent_ns = course.ns() * lines_a_page(model, recording.page_bytes);
  playback.counts = agent.whole().graph(playback.threads);
  playback.settled_ns =
      communication_ns(playback.counts, model, course.assignments(), recording.page_bytes);
  for (const auto& [name, method] :
       {std::pair<std::string_view, mapping::Method>{"order", mapping::Method::order},
        {"compact", mapping::Method::compact},
        {"spread", mapping::Method::scatter},
        {"lh", mapping::Method::lh},
        {"tree", mapping::Method::tree}}) {
    PlacementTime one{name, placed(model, playback.counts, method, start), 0};
    one.ns = communication_ns(playback.counts, model, one.processors, recording.page_bytes);
    playback.standing.push_back(std::move(one));
  }
  return playback;
}

}  // namespace huddle::threads
