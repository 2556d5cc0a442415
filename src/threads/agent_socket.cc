// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "threads/agent_socket.h"

#include <span>
#include <utility>
#include <vector>

#include "threads/local_socket.h"

namespace huddle::threads {
namespace {

// With it come the helper's port, where to say that it is ready, until when to wait for its exec(),
// and where to report to, if it wants to be told.
struct HandedOver {
  Identity process = {};
  double fault_s = 0;
  bool splits_huge = false;
};

}  // namespace

AgentSocket::AgentSocket() : name_(random_socket_name()), socket_(listen_at(name_)) {}

// A number may be another process's in the sender's namespace: the moment of birth would differ.
std::optional<AwaitedProgram> AgentSocket::accept() const {
  constexpr std::size_t least_descriptors = 3;
  HandedOver handed;
  const std::span<std::byte> room = std::as_writable_bytes(std::span(&handed, 1));
  while (std::optional<Received> received = receive_next(socket_, room)) {
    std::vector<FileDescriptor>& all = received->descriptors;
    if (received->bytes != sizeof handed) continue;
    if (all.size() < least_descriptors || !SystemMasks().is_there(handed.process)) continue;
    AwaitedProgram program{.process = handed.process,
                           .fault_s = handed.fault_s,
                           .splits_huge = handed.splits_huge,
                           .port = HelperPort(std::move(all[0])),
                           .ready = std::move(all[1]),
                           .until_exec = std::move(all[2]),
                           .report = {}};
    if (all.size() > least_descriptors) program.report = std::move(all[3]);
    return program;
  }
  return std::nullopt;
}

bool hand_over(const AwaitedProgram& program, const std::string& socket) {
  const HandedOver handed{program.process, program.fault_s, program.splits_huge};
  std::vector<int> descriptors = {program.port.descriptor(), program.ready.number(),
                                  program.until_exec.number()};
  if (program.report.is_open()) descriptors.push_back(program.report.number());
  return send_once(socket, std::as_bytes(std::span(&handed, 1)), descriptors);
}

}  // namespace huddle::threads
