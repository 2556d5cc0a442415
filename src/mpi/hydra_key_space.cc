// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// PMI-1 on the socket that Hydra gives to each process. The MPI uses the same socket, in MPI_Init
// and in MPI_Finalize, and nothing that is said here is in its way: it introduces itself once more,
// and its own barrier carries what was put.
#include "common/settings/settings.h"
#include "common/system.h"
#include "mpi/key_space.h"
#include "mpi/pmi_client.h"

namespace huddle::mpi {
namespace {

class HydraKeySpace : public KeySpace {
 public:
  HydraKeySpace(int socket, std::string rank)
      : client_(socket, PmiVersion::one), rank_(std::move(rank)) {}

  // Before a process has introduced itself, what it puts is lost.
  bool tell(const std::string& value) override {
    return client_.introduce() && client_.put(pmi_key_of(rank_), value);
  }
  bool has_told(int rank, std::string_view value) override {
    return client_.has(pmi_key_of(std::to_string(rank)), value);
  }

  // The socket is the MPI's.
  void close() override {}

 private:
  PmiClient client_;
  std::string rank_;
};

}  // namespace

// Others give a process such a socket, too, and may hear its introduction only once: Hydra alone
// says as well how many ranks are on this node.
std::unique_ptr<KeySpace> hydra_key_space(const std::vector<std::string>& environment) {
  const auto socket = whole_number(settings::value_of(environment, "PMI_FD"));
  std::string rank = settings::value_of(environment, "PMI_RANK");
  if (!socket || *socket < 0 || rank.empty() ||
      settings::value_of(environment, "MPI_LOCALNRANKS").empty()) {
    return nullptr;
  }
  return std::make_unique<HydraKeySpace>(static_cast<int>(*socket), std::move(rank));
}

}  // namespace huddle::mpi
