// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/node_context.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "common/calling_thread.h"
#include "common/error.h"
#include "common/floating_point.h"
#include "common/system.h"
#include "huddle/huddle.h"
#include "model/machine/machine_file.h"
#include "runtime/heap/start.h"
#include "runtime/internode/prediction.h"
#include "runtime/select/explain.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/preparation.h"

namespace huddle::mpi {
namespace {

// Runs `action` on a separate thread if one can be created, and returns its result: the parser of
// machine files needs 14 KiB of stack, reading a file 64 KiB, and a program's threads may have
// little.
template <class Action>
auto on_own_stack(Action action) {
  const WithoutSignals without_signals;
  return std::async(std::launch::async | std::launch::deferred,
                    [&] {
                      const DefaultFloatingPoint floating_point;
                      return action();
                    })
      .get();
}

constexpr int lowest_priority = 19;  // a nice value

std::string digest_of(const std::string& text) {
  return fmt::format("{:016x}", std::hash<std::string>()(text));
}

machine::Machine parsed_here(const std::string& machine_text) {
  return machine::parse_machine(machine_text, "the machine of the first rank");
}

machine::Machine parsed(const std::string& machine_text) {
  return on_own_stack([&] { return parsed_here(machine_text); });
}

// Returns nothing if the file is invalid; save_tuning() reports the error, on one rank.
team::TuningHistory::Records earlier_records(const std::string& path,
                                             const TuningConditions& conditions) {
  try {
    return on_own_stack([&] { return read_tuning_file(path, conditions); });
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

NodeContext::NodeContext(const Options& options, std::function<std::string()> mpi,
                         std::function<void()> progress, int ranks_here, Warn warn)
    : options_(options),
      mpi_(std::move(mpi)),
      progress_(std::move(progress)),
      ranks_here_(ranks_here),
      warn_(std::move(warn)) {}

// Must not read the environment, which the MPI may be changing.
std::optional<NodeContext::Prepared> NodeContext::prepare(
    const std::string& machine_file,
    const machine::StoredMachine::Environment& environment) noexcept {
  try {
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), lowest_priority);
    const DefaultFloatingPoint floating_point;
    const System system;
    CgroupLimits limits = read_cgroup_limits(system);
    const machine::StoredMachine stored(machine_file, system, environment, limits);
    std::optional<std::string> text = stored.find();
    if (!text) return std::nullopt;
    machine::Machine machine = parsed_here(*text);
    return Prepared{std::move(*text), std::move(machine), std::move(limits)};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void NodeContext::start_preparation() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (context_ || preparation_.valid() || prepared_) return;
    const WithoutSignals without_signals;
    preparation_ = std::async(
        std::launch::async,
        [file = options_.machine_file, environment = machine::StoredMachine::Environment::own()] {
          return prepare(file, environment);
        });
  } catch (const std::exception&) {
    return;  // make() does the same work
  }
}

void NodeContext::take_prepared() {
  if (!preparation_.valid()) return;
  if (preparation_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  prepared_ = preparation_.get();
  if (prepared_) stored_ = prepared_->machine_text;
}

bool NodeContext::is_prepared() {
  const std::lock_guard lock(mutex_);
  take_prepared();
  return prepared_.has_value();
}

bool NodeContext::is_there() const {
  const std::lock_guard lock(mutex_);
  return context_ != nullptr;
}

team::Context& NodeContext::get() const {
  const std::lock_guard lock(mutex_);
  return *context_;
}

void NodeContext::start_heap(const Warn& warn) {
  // With "auto", `huddle run` decides by preloading the heap, based on this machine's figures.
  if (options_.heap == "off") return;
  const heap::Started started = heap::start(options_.heap_request);
  if (!started.refusal.empty()) warn("heap: " + started.refusal);
  if (started.refusal.empty() && !started.facts && options_.heap == "on") {
    warn(
        "heap: libhuddle_heap.so is not preloaded; start the program with 'huddle run "
        "--heap on'");
  }
  const std::lock_guard lock(mutex_);
  heap_ = started.facts;
}

std::optional<memory::HeapFacts> NodeContext::heap() const {
  const std::lock_guard lock(mutex_);
  return heap_;
}

const std::string& NodeContext::stored() {
  take_prepared();
  if (!stored_) stored_ = stored_machine_text(options_.machine_file).value_or("");
  return *stored_;
}

bool NodeContext::knows_machine() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    return context_ || !stored().empty();
  } catch (const std::exception&) {
    return false;
  }
}

void NodeContext::start_discovery() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!context_ && !look_ && stored().empty())
      look_ = std::make_unique<MachineDiscovery>(options_.machine_file);
  } catch (const std::exception&) {
    return;  // machine_text() tries again
  }
}

std::string NodeContext::machine_text() {
  const std::lock_guard lock(mutex_);
  if (context_) return context_->machine_text();
  if (!look_ && !stored().empty()) return *stored_;
  try {
    const auto look = look_ ? std::exchange(look_, nullptr)
                            : std::make_unique<MachineDiscovery>(options_.machine_file);
    return look->text();
  } catch (const FailureError& error) {
    warn_(fmt::format("{}; the MPI runs every collective ('huddle doctor' shows the cause)",
                      error.what()));
    throw;
  }
}

machine::Machine NodeContext::read_machine() { return parsed(machine_text()); }

void NodeContext::make(const std::string& machine_text) {
  const std::lock_guard lock(mutex_);
  if (context_) return;
  take_prepared();
  team::ContextOptions options;
  auto known = std::exchange(prepared_, std::nullopt);
  const bool is_known = known && known->machine_text == machine_text;
  options.machine = is_known ? std::move(known->machine) : parsed(machine_text);
  if (known) options.limits = std::move(known->limits);
  options.machine_text = machine_text;
  options.arena.cap_bytes = team::default_cap_bytes;
  options.progress = progress_;
  options.heap = heap_;
  options.processes_here = ranks_here_;
  options.forcing = select::Forcing(options_.algorithms);
  options.trials_after = options_.tune_after;
  if (!options_.tuning_file.empty()) {
    tuning_conditions_ = TuningConditions{.mpi = mpi_(),
                                          .huddle = huddle_version(),
                                          .machine = options.machine.name,
                                          .figures = digest_of(machine_text),
                                          .has_heap = heap_.has_value()};
    options.tuning_records = earlier_records(options_.tuning_file, *tuning_conditions_);
  }
  context_ = std::make_unique<team::Context>(std::move(options));
}

void NodeContext::save_tuning() const {
  const std::lock_guard lock(mutex_);
  if (!tuning_conditions_) return;
  const team::TuningHistory::Records changed = context_->tuning_history().changed();
  if (changed.empty()) return;
  on_own_stack([&] { write_tuning_file(options_.tuning_file, *tuning_conditions_, changed); });
}

namespace {

// The result of each rank after its node's team was created. combine() yields that of all ranks:
// the network figures of the lowest rank with a measured network or, if there is none, of the
// lowest rank.
struct Report {
  internode::FirstError rank_error;
  int speaker = 0;
  internode::Network network;
  std::uint64_t mpi_points = 0;  // number of measured MPI times on rank `speaker`

  void combine(const Report& higher) {
    internode::FirstError first = rank_error;
    first.combine(higher.rank_error);
    if (network.is_estimated != 0 && higher.network.is_estimated == 0) *this = higher;
    rank_error = first;
  }
};

// The times of a node's phases. combine() yields those of the slowest node.
struct Timed {
  internode::FirstError rank_error;
  internode::NodeTimes times;

  void combine(const Timed& higher) {
    rank_error.combine(higher.rank_error);
    times.become_slower_of(higher.times);
  }
};

// Called by the node's first rank. Abandons the team on failure, because its peers wait for it.
void fill_table(internode::SetUpExchange& exchange, const internode::RankPlaces& places,
                std::span<int> table, team::Team& node) {
  try {
    exchange.fill_table(places, table);
  } catch (const std::exception& error) {
    node.abandon(error.what());
    throw;
  }
}

// Returns the predicted times of a node's team. A team of one rank has nothing to do.
internode::NodeTimes times_of(const team::Team& team) {
  const DefaultFloatingPoint floating_point;
  return internode::NodeTimes::of([&](const select::Request& part) -> std::int64_t {
    if (team.ranks() == 1) return 0;
    const select::Explanation explanation = team.explain(part);
    return explanation.candidates.empty() ? 0 : std::llround(select::chosen(explanation).ns);
  });
}

}  // namespace

std::unique_ptr<internode::Team> NodeActivation::make(internode::SetUpExchange& exchange,
                                                      const Known& known,
                                                      std::span<const int> in_job,
                                                      std::span<const std::byte> data) {
  if (known.tag == 0)
    throw FailureError("no message tag is left for another team over several nodes");
  std::unique_ptr<internode::RankWire> wire;
  // No rank sends on the wire before all ranks have the tag.
  exchange.agree_on([&] { wire = inter_node_.wire(in_job, known.tag); });
  const internode::RankPlaces places = exchange.find_places(known.node, *wire);
  std::unique_ptr<team::Team> node;
  int* table = nullptr;
  const std::size_t table_size = internode::NodeMap::table_size(exchange.ranks());
  exchange.agree_on([&] {
    internode::NodeBootstrap node_ranks(*wire, places.here, places.place);
    node = make_node_team(node_ranks, known.has_context, data);
    if (places.are_in_order()) return;
    table = reinterpret_cast<int*>(node->common_memory(table_size * sizeof(int)));
  });
  check_placement(*node, places.here, in_job);
  Report mine;
  mine.speaker = exchange.rank();
  std::optional<internode::Team::Parts> parts;
  mine.rank_error = {
      exchange.rank(), team::RankError::of([&] {
        if (table != nullptr) {
          if (places.place == 0) fill_table(exchange, places, {table, table_size}, *node);
          node->barrier();
        }
        // Does not own the table, which is in the memory of the node's team.
        parts.emplace(internode::Team::Parts{
            {places.starts, std::shared_ptr<const int>(std::shared_ptr<void>(), table)},
            exchange.rank(),
            std::move(node),
            std::move(wire)});
        const machine::Machine& machine = context_.get().machine();
        mine.network = internode::network_of(machine);
        parts->mpi_times = internode::MpiTimes(machine, inter_node_.mpi_title(), parts->map);
        mine.mpi_points = parts->mpi_times.points().size();
      })};
  const Report all = exchange.agree(mine);
  all.rank_error.throw_any();
  if (options_.net == "measured" && all.network.is_estimated != 0) {
    throw FailureError("the network between these kinds of machines has not been measured");
  }
  parts->network = all.network;
  parts->forced = internode::ForcedAlgorithms(options_.net_algorithms);
  if (options_.net_leaders) parts->sharing = internode::Sharing{*options_.net_leaders};
  share_mpi_times(exchange, *parts, all.speaker, all.mpi_points);
  const bool may_share = parts->network.node_ns_per_mib > 0 && !parts->sharing;
  if (all.mpi_points > 0 || may_share) share_node_times(exchange, *parts);
  parts->traffic = &inter_node_.traffic();
  return std::make_unique<internode::Team>(std::move(*parts));
}

// Broadcasts the measured times of the MPI's collectives from rank `speaker`.
void NodeActivation::share_mpi_times(internode::SetUpExchange& exchange,
                                     internode::Team::Parts& parts, int speaker,
                                     std::size_t points) {
  const internode::MpiTimes own = std::exchange(parts.mpi_times, {});
  if (points == 0) return;
  std::vector<internode::MpiTimes::Point> shared;
  exchange.agree_on([&] {
    shared = own.points();
    shared.resize(points);
  });
  exchange.bcast(std::as_writable_bytes(std::span(shared)), speaker);
  parts.mpi_times = internode::MpiTimes(std::move(shared));
}

// Agrees on the phase times of the slowest node.
void NodeActivation::share_node_times(internode::SetUpExchange& exchange,
                                      internode::Team::Parts& parts) {
  Timed mine;
  mine.rank_error = {exchange.rank(), team::RankError::of([&] {
                       if (parts.map.place_of(parts.rank) == 0) mine.times = times_of(*parts.node);
                     })};
  const Timed all = exchange.agree(mine);
  all.rank_error.throw_any();
  parts.node_times = all.times;
}

std::unique_ptr<team::Team> NodeActivation::make_node_team(internode::NodeBootstrap& node_ranks,
                                                           bool has_context,
                                                           std::span<const std::byte> data) {
  team::Bootstrap here = node_ranks.bootstrap();
  const std::vector<std::uint8_t> all = team::gather(here, static_cast<std::uint8_t>(has_context));
  if (std::find(all.begin(), all.end(), 0) != all.end()) share_machine(node_ranks, here);
  const std::vector<int> page_nodes =
      placement_check_.sample(data, context_.get().machine().topology);
  here.page_nodes = page_nodes;
  return team::make_or_decline<team::Team>(here, context_.get(), here);
}

// `here` contains the ranks of this node in the communicator.
void NodeActivation::check_placement(const team::Team& node, std::span<const int> here,
                                     std::span<const int> in_job) noexcept {
  try {
    std::vector<int> in_job_here;
    for (const int rank : here) in_job_here.push_back(in_job[static_cast<std::size_t>(rank)]);
    placement_check_.check(*node.group(), context_.get().machine().topology, in_job_here,
                           node.rank());
  } catch (const std::exception&) {
    return;  // the other ranks rely on this one
  }
}

// The first rank of the node discovers the machine and broadcasts it.
void NodeActivation::share_machine(internode::NodeBootstrap& node_ranks,
                                   const team::Bootstrap& here) {
  std::string text;
  team::agree(here, [&] {
    if (here.rank == 0) text = context_.machine_text();
  });
  const std::vector<std::uint64_t> sizes = team::gather(here, std::uint64_t{text.size()});
  team::agree(here, [&] { text.resize(sizes.front()); });
  node_ranks.bcast(std::as_writable_bytes(std::span(text)));
  team::agree(here, [&] { context_.make(text); });
}

}  // namespace huddle::mpi
