// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/mapping/emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <optional>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"
#include "placement/mapping/comm_matrix.h"

namespace huddle::mapping {
namespace {

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 0) return std::nullopt;
  return value;
}

std::optional<Assignment> assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::size_t colon = text.find(':', equals);
  const bool has_node = colon != std::string_view::npos;
  const auto element = whole_number(text.substr(0, equals));
  const auto node = has_node ? whole_number(text.substr(equals + 1, colon - equals - 1)) : 0;
  const auto pu = whole_number(text.substr((has_node ? colon : equals) + 1));
  if (!element || !node || !pu) return std::nullopt;
  return Assignment{*element, {*node, *pu}};
}

std::string misread(std::string_view text) {
  return fmt::format(
      "'{}' is not of the form ELEMENT=HARDWARE_THREAD, such as 3=12, or 3=1:12 for hardware "
      "thread 12 of node 1",
      printable(text.substr(0, 40)));
}

}  // namespace

std::vector<Assignment> parse_assignments(std::string_view text) {
  std::vector<Assignment> all;
  for (const std::string_view item : split(text, ',')) {
    const auto one = assignment(item);
    if (!one) throw UsageError(misread(item));
    all.push_back(*one);
  }
  return all;
}

std::vector<Assignment> parse_assignment_lines(std::string_view text, const std::string& name) {
  std::vector<Assignment> all;
  std::vector<std::string_view> fields;
  Lines lines(text, name);
  while (const auto line = lines.next("#")) {
    split_fields(*line, fields);
    for (const std::string_view field : fields) {
      const auto one = assignment(field);
      if (!one) lines.fail(misread(field));
      all.push_back(*one);
    }
  }
  return all;
}

std::vector<Assignment> read_assignments(const std::string& path) {
  return parse_assignment_lines(read_text(path), path);
}

namespace {

constexpr std::array table = {
    EmissionInfo{Emission::omp_places, "omp-places", "OMP_PLACES, OMP_PROC_BIND: any OpenMP", true},
    EmissionInfo{Emission::gomp, "gomp", "GOMP_CPU_AFFINITY: GNU OpenMP", true},
    EmissionInfo{Emission::taskset, "taskset", "a script that binds the threads whose IDs it gets",
                 true},
    EmissionInfo{Emission::openmpi4, "openmpi4", "a rankfile for Open MPI 4", true},
    EmissionInfo{Emission::prrte, "prrte", "a rankfile for Open MPI 5 and PRRTE", true},
    EmissionInfo{Emission::hydra, "hydra", "MPICH's mpiexec.hydra: -bind-to user", true},
    EmissionInfo{Emission::intel, "intel", "I_MPI_PIN_PROCESSOR_LIST, and a machine file", true},
    EmissionInfo{Emission::srun_map_cpu, "srun-map-cpu",
                 "srun --cpu-bind=map_cpu with --distribution", false},
    EmissionInfo{Emission::srun_arbitrary, "srun-arbitrary",
                 "SLURM_HOSTFILE, --distribution=arbitrary", false},
    EmissionInfo{Emission::cray_rank_order, "cray-rank-order", "MPICH_RANK_ORDER of Cray MPICH",
                 false},
    EmissionInfo{Emission::hostfile, "hostfile", "the host of each rank, one line per rank", false},
};

std::string joined(const std::vector<int>& numbers, std::string_view between) {
  return fmt::format("{}", fmt::join(numbers, between));
}

// Returns for each node the hardware threads of its ranks, in rank order.
std::vector<std::vector<int>> pus_by_node(const std::vector<Slot>& seats, int nodes) {
  std::vector<std::vector<int>> pus(static_cast<std::size_t>(nodes));
  for (const Slot& seat : seats) pus[static_cast<std::size_t>(seat.node)].push_back(seat.pu);
  return pus;
}

class Emitter {
 public:
  Emitter(std::string_view name, const EmittedPlacement& seating)
      : name_(name), seats_(seating.seats), nodes_(seating.nodes), seating_(seating) {}

  std::string host(int node) const {
    if (!seating_.hosts.empty()) return seating_.hosts[static_cast<std::size_t>(node)];
    return nodes_ == 1 ? "localhost" : fmt::format("node{}", node);
  }

  // Returns the hardware thread of each element. Throws UsageError if there are several nodes.
  std::vector<int> pus_of_one_node() const {
    if (nodes_ > 1) {
      throw UsageError(fmt::format("{} is for threads of one node, but the placement has {} nodes",
                                   name_, nodes_));
    }
    return pus_by_node(seats_, 1).front();
  }

  // Returns one list for all nodes: the longest one. Throws UsageError unless each node's list is a
  // prefix of it.
  std::vector<int> list_for_all_nodes() const {
    const auto pus = pus_by_node(seats_, nodes_);
    const auto longest = std::max_element(
        pus.begin(), pus.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (const std::vector<int>& one : pus) {
      if (std::equal(one.begin(), one.end(), longest->begin())) continue;
      throw UsageError(
          fmt::format("{} binds ranks in the same way on every node, but here the hardware threads "
                      "differ ({} and {}); use openmpi4 or prrte",
                      name_, joined(one, ","), joined(*longest, ",")));
    }
    return *longest;
  }

  // Returns the options that make srun put each rank on its node, before those that bind it. srun
  // numbers the nodes itself, so only the ranks that share a node matter. Throws UsageError if none
  // of its distributions puts the same ranks on the same nodes.
  std::string srun_distribution() const {
    if (nodes_ == 1) return "";
    const std::vector<int> node_of = nodes_by_first_rank();
    const int ranks = static_cast<int>(node_of.size());
    const int on_each = ranks / nodes_;
    bool is_block = on_each * nodes_ == ranks;
    bool is_cyclic = is_block;
    for (int rank = 0; rank < ranks && (is_block || is_cyclic); ++rank) {
      const int node = node_of[static_cast<std::size_t>(rank)];
      is_block = is_block && node == rank / on_each;
      is_cyclic = is_cyclic && node == rank % nodes_;
    }
    if (!is_block && !is_cyclic) {
      throw UsageError(fmt::format(
          "{} requires that srun can distribute the ranks over the nodes in blocks or in turn, "
          "with equal numbers per node, but this placement does neither; use openmpi4 or prrte "
          "with mpirun, or srun-arbitrary, which sets the node of each rank but binds no rank",
          name_));
    }
    return fmt::format("--ntasks-per-node={} --distribution={} ", on_each,
                       is_block ? "block" : "cyclic");
  }

  // Hydra starts again with the first hardware thread of its list when a host appears again in the
  // host file. Throws UsageError if that would bind ranks to the same hardware thread.
  void check_consecutive_on_hosts() const {
    std::vector<bool> has_ended(static_cast<std::size_t>(nodes_), false);
    for (std::size_t rank = 1; rank < seats_.size(); ++rank) {
      const int before = seats_[rank - 1].node;
      const int node = seats_[rank].node;
      if (node == before) continue;
      has_ended[static_cast<std::size_t>(before)] = true;
      if (!has_ended[static_cast<std::size_t>(node)]) continue;
      throw UsageError(
          fmt::format("{} binds ranks correctly only if the numbers of the ranks on each host are "
                      "consecutive, but here other ranks come between those on {}; use hostfile, "
                      "which sets the host of each rank but binds no rank",
                      name_, host(node)));
    }
  }

  // Rankfiles with the OS indices of hardware threads or with their logical indices, as in hwloc.
  std::string rankfile() const {
    return rank_lines([](int pu) { return pu; });
  }
  std::string rankfile_by_logical_numbers() const {
    return rank_lines([this](int pu) { return seating_.logical[static_cast<std::size_t>(pu)]; });
  }

  std::string host_lines(std::string_view after) const {
    std::string text;
    for (const Slot& seat : seats_) text += fmt::format("{}{}\n", host(seat.node), after);
    return text;
  }

  std::string rank_order() const {
    std::vector<int> order;
    for (int node = 0; node < nodes_; ++node) {
      for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
        if (seats_[rank].node == node) order.push_back(static_cast<int>(rank));
      }
    }
    return joined(order, ",") + "\n";
  }

 private:
  // Returns the node of each rank. Nodes are numbered from 0 in the order of their first ranks.
  std::vector<int> nodes_by_first_rank() const {
    std::vector<int> number_of(static_cast<std::size_t>(nodes_), -1);
    std::vector<int> nodes;
    int next = 0;
    for (const Slot& seat : seats_) {
      int& number = number_of[static_cast<std::size_t>(seat.node)];
      if (number < 0) number = next++;
      nodes.push_back(number);
    }
    return nodes;
  }

  template <typename Number>
  std::string rank_lines(const Number& number) const {
    std::string text;
    for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
      const Slot& seat = seats_[rank];
      text += fmt::format("rank {}={} slot={}\n", rank, host(seat.node), number(seat.pu));
    }
    return text;
  }

  std::string_view name_;
  const std::vector<Slot>& seats_;
  int nodes_;
  const EmittedPlacement& seating_;
};

std::string taskset_script(const std::vector<int>& pus) {
  std::string text =
      "#!/bin/sh\n"
      "# Binds the threads of a running program. Arguments: their IDs, beginning with thread 0.\n";
  for (const int pu : pus) {
    text += fmt::format(
        "taskset -cp {} \"${{1:?missing ID of the next thread}}\" && shift || exit\n", pu);
  }
  return text;
}

}  // namespace

std::span<const EmissionInfo> emissions() { return table; }

Emission emission_named(std::string_view name) {
  std::vector<std::string> names;
  for (const EmissionInfo& info : table) {
    if (info.name == name) return info.emission;
    names.emplace_back(info.name);
  }
  throw UsageError(fmt::format("--emit has no format '{}'{}; the formats are {}", printable(name),
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

std::string emit(Emission emission, const EmittedPlacement& seating) {
  const auto info = std::find_if(table.begin(), table.end(), [emission](const EmissionInfo& one) {
    return one.emission == emission;
  });
  const Emitter emitter(info->name, seating);
  switch (emission) {
    case Emission::omp_places:
      return fmt::format("OMP_PLACES='{{{}}}' OMP_PROC_BIND=close\n",
                         joined(emitter.pus_of_one_node(), "},{"));
    case Emission::gomp:
      return fmt::format("GOMP_CPU_AFFINITY='{}'\n", joined(emitter.pus_of_one_node(), " "));
    case Emission::taskset:
      return taskset_script(emitter.pus_of_one_node());
    case Emission::openmpi4:
      return "# mpirun --rankfile FILE --mca rmaps_rank_file_physical 1 PROGRAM\n" +
             emitter.rankfile();
    case Emission::prrte:
      return "# mpirun --map-by rankfile:file=FILE:hwtcpus PROGRAM\n" +
             emitter.rankfile_by_logical_numbers();
    case Emission::hydra:
      emitter.check_consecutive_on_hosts();
      return fmt::format("# mpiexec.hydra -f FILE -bind-to user:{} PROGRAM\n{}",
                         joined(emitter.list_for_all_nodes(), ","), emitter.host_lines(":1"));
    case Emission::intel:
      return fmt::format(
          "# I_MPI_PIN_PROCESSOR_LIST={} mpiexec.hydra -machinefile FILE PROGRAM\n{}",
          joined(emitter.list_for_all_nodes(), ","), emitter.host_lines(":1"));
    case Emission::srun_map_cpu:
      return fmt::format("{}--cpu-bind=map_cpu:{}\n", emitter.srun_distribution(),
                         joined(emitter.list_for_all_nodes(), ","));
    case Emission::srun_arbitrary:
    case Emission::hostfile:
      return emitter.host_lines("");
    case Emission::cray_rank_order:
      return emitter.rank_order();
  }
  return "";
}

}  // namespace huddle::mapping
