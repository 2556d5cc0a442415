// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/agent.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/arithmetic.h"
#include "placement/mapping/method.h"
#include "placement/mapping/slots.h"

namespace huddle::threads {

std::vector<int> processors_of(const mapping::SlotTree& tree, const mapping::Mapping& mapping) {
  std::vector<int> processors;
  for (const int slot : mapping) processors.push_back(tree.slots()[at(slot)].pu);
  return processors;
}

double communication_cost_ns(const mapping::Graph& counts, const mapping::SlotTree& tree,
                             const std::vector<int>& processors) {
  double sum = 0;
  for (int v = 0; v < counts.size(); ++v) {
    const mapping::Graph::Row row = counts.row(v);
    const int here = tree.slot_of({0, processors[at(v)]});
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      if (other < v) continue;
      const int there = tree.slot_of({0, processors[at(other)]});
      if (here >= 0 && there >= 0) sum += row.bytes[i] * tree.ns(here, there);
    }
  }
  return sum;
}

namespace {

// Cost of moving one thread: the system calls that bind it, and its migration.
constexpr double rebind_s = 20e-6;

// Returns the size of the core's private cache, which a thread has to refill after a move.
double private_cache_bytes(const machine::Topology& topology) {
  constexpr double usual_bytes = 256 * 1024;
  for (const machine::Level& level : topology.levels) {
    if (level.name == "l2" && !level.bytes.empty()) {
      return static_cast<double>(level.bytes.front());
    }
  }
  return usual_bytes;
}

// Assigns each thread its own slot, as near as possible to its hardware thread. Threads may
// currently share a hardware thread, or run on one that is not a slot.
mapping::Mapping one_to_one(const mapping::SlotTree& tree, const std::vector<int>& processors) {
  mapping::Mapping mapping(processors.size(), mapping::no_slot);
  std::vector<bool> taken(at(tree.size()), false);
  std::vector<std::size_t> homeless;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    const int slot = tree.slot_of({0, processors[i]});
    if (slot >= 0 && !taken[at(slot)]) {
      mapping[i] = slot;
      taken[at(slot)] = true;
    } else {
      homeless.push_back(i);
    }
  }
  for (const std::size_t i : homeless) {
    const int wish = std::max(tree.slot_of({0, processors[i]}), 0);
    int nearest = mapping::no_slot;
    for (int slot = 0; slot < tree.size(); ++slot) {
      if (taken[at(slot)]) continue;
      if (nearest == mapping::no_slot || tree.ns(wish, slot) < tree.ns(wish, nearest))
        nearest = slot;
    }
    mapping[i] = nearest;
    taken[at(nearest)] = true;
  }
  return mapping;
}

// Returns the fraction of pairs whose level of sharing has changed.
double pairs_changed(const mapping::SlotTree& tree, const std::vector<int>& before,
                     const std::vector<int>& after) {
  int pairs = 0;
  int changed = 0;
  const auto level = [&tree](int a, int b) {
    const int from = tree.slot_of({0, a});
    const int to = tree.slot_of({0, b});
    return from < 0 || to < 0 || from == to ? -1 : tree.level(from, to);
  };
  for (std::size_t i = 0; i < after.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      ++pairs;
      if (level(before[i], before[j]) != level(after[i], after[j])) ++changed;
    }
  }
  return pairs == 0 ? 0 : static_cast<double>(changed) / pairs;
}

mapping::Events events_of(mapping::Graph counts, double chance) {
  mapping::Events events{.counts = std::move(counts)};
  const double total = events.total();
  if (total > 0) events.dispersion = chance / total;
  return events;
}

}  // namespace

Agent::Agent(const machine::CostModel& model, const machine::CpuSet& allowed, AgentOptions options)
    : model_(model),
      allowed_(common(allowed, model.machine().topology.pus)),
      options_(options),
      table_(options.counting, options.rounds),
      interval_ms_(options.first_interval_ms) {}

std::span<const int> Agent::take(const Touch& touch) {
  ++touches_;
  if (touch.time_ns >= batch_end_ns_) finish_batch(touch.time_ns);
  const std::span<const int> partners = table_.take(touch);
  for (const int partner : partners) {
    batch_.add(touch.thread, partner);
    whole_.add(touch.thread, partner);
  }
  return partners;
}

void Agent::take(const Standing& standing) {
  allowed_ = common(standing.allowed, model_.machine().topology.pus);
  alone_ = standing.alone;
  std::fill(bound_.begin(), bound_.end(), -1);
  for (const auto& [thread, processor] : standing.assignments) {
    if (at(thread) >= bound_.size()) bound_.resize(at(thread) + 1, -1);
    bound_[at(thread)] = processor;
  }
}

void Agent::finish_batch(std::uint64_t time_ns) {
  fresh_.add(batch_);
  recent_.add(batch_);
  if (last_decision_ns_ == first_look_ns_) {
    busy_.resize(at(batch_.size()));
    std::iota(busy_.begin(), busy_.end(), 0);
  }
  const double squares = batch_.spread(busy_).squares;
  chance_ += squares;
  whole_chance_ += squares;
  batch_.clear();
  batch_end_ns_ = time_ns + static_cast<std::uint64_t>(options_.batch_ms) * 1'000'000U;
}

// Removes the counts of these thread numbers, which now belong to other threads.
void Agent::forget(const std::vector<int>& threads) {
  if (threads.empty()) return;
  table_.forget(threads);
  for (const int thread : threads) {
    for (SharingMatrix* const one : {&batch_, &fresh_, &recent_, &whole_}) one->forget(thread);
    if (at(thread) < cpu_before_ns_.size()) cpu_before_ns_[at(thread)] = 0;
    if (at(thread) < bound_.size()) bound_[at(thread)] = -1;
    if (at(thread) < traffic_.size()) traffic_[at(thread)] = {};
  }
  const auto is_proposed = [this](int thread) {
    const std::vector<int>& proposed = last_proposal_->threads;
    return std::find(proposed.begin(), proposed.end(), thread) != proposed.end();
  };
  if (last_proposal_ && std::any_of(threads.begin(), threads.end(), is_proposed)) {
    last_proposal_.reset();
  }
}

std::optional<Decision> Agent::take(const Look& look) {
  forget(look.reused);
  if (!has_looked_) {
    has_looked_ = true;
    first_look_ns_ = last_decision_ns_ = look.time_ns;
    at_work(look);  // sets the baseline of the CPU times
    count_traffic(look);
    return std::nullopt;
  }
  const auto passed_ns = static_cast<double>(look.time_ns - last_decision_ns_);
  if (passed_ns < interval_ms_ * 1e6) return std::nullopt;
  finish_batch(look.time_ns);
  fresh_s_ = passed_ns / 1e9;
  whole_s_ += fresh_s_;
  seen_s_ += fresh_s_;
  count_traffic(look);
  Decision decision = decide(look);
  recent_.scale(options_.kept_after_decision);
  for (Traffic& one : traffic_) {
    one.recent *= options_.kept_after_decision;
    one.fresh = 0;
  }
  chance_ *= options_.kept_after_decision * options_.kept_after_decision;
  busy_ = decision.threads;
  fresh_.clear();
  seen_s_ *= options_.kept_after_decision;
  table_.age();
  last_decision_ns_ = look.time_ns;
  return decision;
}

std::vector<int> Agent::at_work(const Look& look) {
  std::vector<std::pair<int, double>> used;
  double most = 0;
  for (const ThreadUse& use : look.threads) {
    if (at(use.thread) >= cpu_before_ns_.size()) cpu_before_ns_.resize(at(use.thread) + 1, 0);
    std::uint64_t& before = cpu_before_ns_[at(use.thread)];
    const auto ns = static_cast<double>(use.cpu_ns - std::min(before, use.cpu_ns));
    before = use.cpu_ns;
    used.emplace_back(use.thread, ns);
    most = std::max(most, ns);
  }
  std::vector<int> threads;
  for (const auto& [thread, ns] : used) {
    if (ns > 0 && ns >= options_.least_share_of_busiest * most) threads.push_back(thread);
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

void Agent::count_traffic(const Look& look) {
  for (const ThreadUse& use : look.threads) {
    if (at(use.thread) >= traffic_.size()) traffic_.resize(at(use.thread) + 1);
    Traffic& traffic = traffic_[at(use.thread)];
    if (use.memory_bytes) {
      const std::uint64_t before = traffic.counter.value_or(0);
      const auto bytes =
          static_cast<double>(*use.memory_bytes - std::min(before, *use.memory_bytes));
      traffic.fresh += bytes;
      traffic.recent += bytes;
      traffic.whole += bytes;
    }
    traffic.counter = use.memory_bytes;
  }
}

std::optional<mapping::MemoryTraffic> Agent::traffic(const std::vector<int>& threads,
                                                     double seconds, double Traffic::*bytes) const {
  mapping::MemoryTraffic traffic{.seconds = seconds, .bytes = {}};
  for (const int thread : threads) {
    const bool is_known = at(thread) < traffic_.size() && traffic_[at(thread)].counter;
    if (!is_known) return std::nullopt;
    traffic.bytes.push_back(traffic_[at(thread)].*bytes);
  }
  return traffic;
}

std::optional<mapping::MemoryTraffic> Agent::whole_traffic(const std::vector<int>& threads) const {
  if (whole_s_ <= 0) return std::nullopt;  // the program ended before the first decision
  return traffic(threads, whole_s_, &Traffic::whole);
}

bool Agent::weighs_memory(const std::vector<int>& threads) const {
  return options_.memory == Memory::kept && !mapping::contended_levels(model_.machine()).empty() &&
         traffic(threads, seen_s_, &Traffic::recent);
}

// A page is sampled every few milliseconds, while its cache lines may move many times: one event
// stands for one transfer of each line of the page, which is a lower bound.
double Agent::lines_per_event() const {
  return static_cast<double>(options_.page_bytes) / model_.machine().line_bytes;
}

mapping::Events Agent::recent_events(const std::vector<int>& threads) const {
  return events_of(recent_.graph(threads), chance_);
}

mapping::Events Agent::whole_events(const std::vector<int>& threads) const {
  // `whole_` includes the current batch.
  return events_of(whole_.graph(threads), whole_chance_ + batch_.spread(busy_).squares);
}

// Returns whether enough of the events are new, so that one occurrence does not decide twice.
bool Agent::is_fresh(const std::vector<int>& threads) const {
  const double least =
      options_.evidence.least_events_an_element * static_cast<double>(threads.size());
  return fresh_.spread(threads).sum >= (1 - options_.kept_after_decision) * least;
}

Decision Agent::decide(const Look& look) {
  Decision decision{.time_ns = look.time_ns,
                    .interval_ms = static_cast<int>(std::lround(fresh_s_ * 1e3)),
                    .threads = at_work(look)};
  const mapping::Events events = recent_events(decision.threads);
  const mapping::Finding finding = examine(events, options_.evidence);
  decision.sharing = events.counts;
  decision.counts = events.total();
  for (const int thread : decision.threads) {
    decision.assignments.push_back(present_processor(look, thread));
  }
  if (decision.threads.size() < 2) {
    decision.reason = Reason::one_thread;
  } else if (finding == mapping::Finding::too_few_events || !is_fresh(decision.threads)) {
    decision.reason = Reason::too_few_touches;
    const bool fits = allowed_.count() >= static_cast<int>(decision.threads.size());
    if (fits && weighs_memory(decision.threads)) return spread_if_streaming(decision, events);
  } else if (finding == mapping::Finding::all_alike) {
    decision.reason = Reason::all_alike;
  } else if (allowed_.count() < static_cast<int>(decision.threads.size())) {
    decision.reason = Reason::too_many_threads;
  } else {
    look_for_better(decision, events);
    return decision;
  }
  if (decision.reason == Reason::all_alike || decision.reason == Reason::too_many_threads) {
    decision.restores =
        std::any_of(bound_.begin(), bound_.end(), [](int processor) { return processor >= 0; });
    std::fill(bound_.begin(), bound_.end(), -1);
  }
  // This decision cannot lead to a move. If fewer than two threads are at work, resets the
  // interval, because others may start at any time.
  last_proposal_.reset();
  if (decision.reason == Reason::one_thread) {
    interval_ms_ = options_.first_interval_ms;
  } else {
    adjust_interval(true);
  }
  return decision;
}

int Agent::present_processor(const Look& look, int thread) const {
  if (at(thread) < bound_.size() && bound_[at(thread)] >= 0) return bound_[at(thread)];
  const auto use = std::find_if(look.threads.begin(), look.threads.end(),
                                [thread](const ThreadUse& one) { return one.thread == thread; });
  return use->processor;
}

// Returns the placement with the lowest predicted time. If the traffic is unknown, and that
// placement leaves the threads less memory, returns the best one for which threads only exchange
// their hardware threads.
mapping::Mapping Agent::better_placement(const mapping::MappingProblem& problem,
                                         Decision& decision) const {
  mapping::Mapping nearest = map_by(problem, {}).mapping;
  if (options_.memory == Memory::ignored || problem.memory != nullptr) return nearest;
  const std::vector<int> now = processors_of(problem.tree, problem.present);
  const std::vector<int> then = processors_of(problem.tree, nearest);
  const Decision::Rejected use{mapping::memory_use(model_, now), mapping::memory_use(model_, then)};
  if (!uses_less(use.then, use.now)) return nearest;
  decision.rejected = use;
  return exchanged(problem);
}

mapping::Mapping Agent::exchanged(const mapping::MappingProblem& problem) const {
  std::vector<int> processors = processors_of(problem.tree, problem.present);
  const mapping::SlotTree tree(model_, {processors, 1, 0});
  const auto moved_to = [](const mapping::Mapping& mapping, const mapping::SlotTree& from,
                           const mapping::SlotTree& to) {
    mapping::Mapping result;
    for (const int slot : mapping) {
      result.push_back(slot == mapping::no_slot ? slot : to.slot_of(from.slots()[at(slot)]));
    }
    return result;
  };
  const mapping::MappingProblem among{problem.graph, tree,
                                      moved_to(problem.fixed, problem.tree, tree),
                                      moved_to(problem.present, problem.tree, tree), problem.seed};
  return moved_to(map_by(among, {}).mapping, tree, problem.tree);
}

void Agent::look_for_better(Decision& decision, const mapping::Events& events) {
  const machine::Topology& topology = model_.machine().topology;
  const machine::CpuSet sat_on = common(machine::CpuSet(decision.assignments), allowed_);
  const int elements = static_cast<int>(decision.threads.size());
  const mapping::SlotTree tree(
      model_,
      {mapping::cores_first(topology, mapping::chosen_pus(topology, allowed_, sat_on, elements, 1),
                            sat_on, elements),
       1, 0});
  mapping::MappingProblem problem{decision.sharing, tree,
                                  mapping::Mapping(decision.threads.size(), mapping::no_slot),
                                  one_to_one(tree, decision.assignments), 1};
  for (std::size_t i = 0; i < decision.threads.size(); ++i) {
    const bool stays = std::find(alone_.begin(), alone_.end(), decision.threads[i]) != alone_.end();
    if (stays) problem.fixed[i] = problem.present[i];
  }
  problem.lines_per_byte = lines_per_event();
  std::optional<mapping::MemoryTimes> memory;
  decision.knows_memory = weighs_memory(decision.threads);
  if (decision.knows_memory) {
    problem.memory =
        &memory.emplace(model_, tree, *traffic(decision.threads, seen_s_, &Traffic::recent),
                        problem.present, mapping::Pages::stay);
  }
  const mapping::Mapping better = better_placement(problem, decision);
  decision.present = processors_of(tree, problem.present);
  decision.wanted = processors_of(tree, better);
  for (std::size_t i = 0; i < better.size(); ++i) {
    if (decision.present[i] != decision.wanted[i]) ++decision.moved;
  }
  const mapping::PredictedTime before = predicted_time(problem, problem.present);
  const mapping::PredictedTime after = predicted_time(problem, better);
  const mapping::Gain gain = gain_of(events, tree, problem.present, better)
                                 .with_memory(lines_per_event(), before.memory_ns, after.memory_ns);
  decision.before = per_second(before);
  decision.after = per_second(after);
  decision.saved = gain.share();
  decision.gain_s = gain.least_ns(options_.evidence) * 1e-9 / seen_s_ * options_.must_pay_within_s;
  decision.cost_s = decision.moved * (rebind_s + refill_s(tree));
  decision.reason = judge(decision, tree);
}

mapping::PredictedTime Agent::per_second(const mapping::PredictedTime& seen) const {
  return {seen.communication_ns / seen_s_, seen.memory_ns / seen_s_};
}

// Threads that stream under one cache often share few pages, so that the events do not suffice for
// a decision, but their traffic does. Leaves the decision as it is if nothing would be gained.
Decision Agent::spread_if_streaming(const Decision& decision, const mapping::Events& events) {
  Decision spread = decision;
  look_for_better(spread, events);
  const bool stays =
      spread.reason == Reason::best_already || spread.reason == Reason::too_little_gain;
  if (!stays) return spread;
  last_proposal_.reset();
  adjust_interval(true);
  return decision;
}

double Agent::refill_s(const mapping::SlotTree& tree) const {
  const machine::Machine& machine = model_.machine();
  const double lines = private_cache_bytes(machine.topology) / machine.line_bytes;
  return lines * tree.levels().back().ns * 1e-9;
}

bool Agent::confirmed(const Decision& decision, const mapping::SlotTree& tree) const {
  const mapping::Graph graph = fresh_.graph(decision.threads);
  mapping::MappingProblem problem{graph, tree, {}, one_to_one(tree, decision.present)};
  problem.lines_per_byte = lines_per_event();
  std::optional<mapping::MemoryTimes> memory;
  if (decision.knows_memory) {
    problem.memory =
        &memory.emplace(model_, tree, *traffic(decision.threads, fresh_s_, &Traffic::fresh),
                        problem.present, mapping::Pages::stay);
  }
  const double before = predicted_time(problem, problem.present).ns();
  const double after = predicted_time(problem, one_to_one(tree, last_proposal_->processors)).ns();
  return before - after >= options_.least_confirmed * last_proposal_->saved * before;
}

Reason Agent::judge(const Decision& decision, const mapping::SlotTree& tree) {
  const bool known = last_proposal_ && last_proposal_->threads == decision.threads;
  const bool same =
      known && confirmed(decision, tree) &&
      pairs_changed(tree, last_proposal_->processors, decision.wanted) <= options_.nearly_same;
  const bool stays = decision.moved == 0 || decision.saved <= 0;
  adjust_interval(same || stays);
  if (stays || decision.gain_s <= decision.cost_s) {
    last_proposal_.reset();
    if (!stays) return Reason::too_little_gain;
    return decision.rejected ? Reason::less_memory : Reason::best_already;
  }
  last_proposal_ = Proposal{decision.threads, decision.wanted, decision.saved};
  if (!same) return Reason::seen_once;
  if (last_move_ns_ &&
      static_cast<double>(decision.time_ns - *last_move_ns_) < options_.cool_off_ms * 1e6) {
    return Reason::cooling_off;
  }
  last_proposal_.reset();
  last_move_ns_ = decision.time_ns;
  for (std::size_t i = 0; i < decision.threads.size(); ++i) {
    const std::size_t thread = at(decision.threads[i]);
    if (thread >= bound_.size()) bound_.resize(thread + 1, -1);
    bound_[thread] = decision.wanted[i];
  }
  return Reason::move;
}

void Agent::adjust_interval(bool same) {
  interval_ms_ = std::clamp(interval_ms_ + (same ? 1 : -1) * options_.interval_step_ms,
                            options_.least_interval_ms, options_.most_interval_ms);
}

std::vector<Decision> replay(const Events& events, Agent& agent) {
  std::vector<Decision> decisions;
  for (const auto& event : events) {
    if (const auto* const touch = std::get_if<Touch>(&event)) {
      agent.take(*touch);
    } else if (auto decision = agent.take(std::get<Look>(event))) {
      decisions.push_back(std::move(*decision));
    }
  }
  return decisions;
}

}  // namespace huddle::threads
