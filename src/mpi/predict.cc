// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/predict.h"

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/choice.h"
#include "runtime/select/team_resources.h"

namespace huddle::mpi {
namespace {

class Predictor {
 public:
  Predictor(machine::Machine machine, std::vector<team::CpuBinding> bindings)
      : machine_(std::move(machine)), model_(machine_), bindings_(std::move(bindings)) {}

  std::optional<double> ns(select::Operation operation, std::size_t bytes,
                           std::span<const int> members) {
    const bool moves_data = operation != select::Operation::barrier;
    if (moves_data && bytes == 0) return std::nullopt;
    const Team& team = team_of({members.begin(), members.end()});
    const select::Request request{.operation = operation,
                                  .bytes = bytes,
                                  .element_bytes = select::reduces(operation) ? sizeof(double) : 1};
    const auto choice = select::choose(request, team.locality, model_, team.resources);
    // The machine file may lack figures that all algorithms need.
    if (!choice || !std::isfinite(choice->usual.ns)) return std::nullopt;
    return choice->usual.ns;
  }

 private:
  struct Team {
    node::RankLocality locality;
    select::TeamResources resources;
  };

  const Team& team_of(const std::vector<int>& members) {
    const auto known = teams_.find(members);
    if (known != teams_.end()) return known->second;
    std::vector<team::CpuBinding> bindings;
    for (const int rank : members) bindings.push_back(bindings_[static_cast<std::size_t>(rank)]);
    node::RankLocality locality =
        node::locality(machine_.topology, team::processors_of(bindings, machine_.topology));
    select::TeamResources resources =
        select::team_resources(locality, model_, select::usual_queue_bytes);
    return teams_.emplace(members, Team{std::move(locality), std::move(resources)}).first->second;
  }

  machine::Machine machine_;
  machine::CostModel model_;
  std::vector<team::CpuBinding> bindings_;
  std::map<std::vector<int>, Team> teams_;
};

}  // namespace

Prediction predict_on(machine::Machine machine, std::vector<team::CpuBinding> bindings) {
  const bool is_calibrated = machine::calibrated(machine);
  auto predictor = std::make_shared<Predictor>(std::move(machine), std::move(bindings));
  return {
      [predictor](select::Operation operation, std::size_t bytes, std::span<const int> members) {
        return predictor->ns(operation, bytes, members);
      },
      is_calibrated};
}

}  // namespace huddle::mpi
