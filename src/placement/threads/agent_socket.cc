// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/agent_socket.h"

#include <unistd.h>

#include <span>
#include <utility>
#include <vector>

#include "placement/threads/local_socket.h"

namespace huddle::threads {
namespace {

// With it come the helper's port, where to say that it is ready, until when to wait for its exec(),
// and where to report to, if it wants to be told.
struct HandedOver {
  Identity process = {};
  double fault_s = 0;
  bool splits_huge = false;
};

constexpr std::string_view taken = "taken";
constexpr std::size_t least_descriptors = 3;

std::string why_not(const Received& received, const HandedOver& handed) {
  if (received.bytes != sizeof handed) return "it is of another version of huddle";
  if (received.descriptors.size() < least_descriptors) return "it has no descriptors left";
  // A number may be another process's in the sender's namespace: the moment of birth would differ.
  if (!SystemMasks().is_there(handed.process)) return "it does not see the process";
  return {};
}

}  // namespace

bool AwaitedProgram::tell(std::string_view text) const {
  return ::write(ready.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

AgentSocket::AgentSocket() : name_(random_socket_name()), socket_(listen_at(name_)) {}

std::optional<AwaitedProgram> AgentSocket::accept() const {
  HandedOver handed;
  const std::span<std::byte> room = std::as_writable_bytes(std::span(&handed, 1));
  while (std::optional<Received> received = receive_next(socket_, room)) {
    std::vector<FileDescriptor>& all = received->descriptors;
    if (received->bytes == 0) continue;
    if (const std::string refusal = why_not(*received, handed); !refusal.empty()) {
      answer(received->connection, refusal);
      continue;
    }
    // Who has waited for too long has an agent of his own by now.
    if (!answer(received->connection, taken)) continue;
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

std::string hand_over(const AwaitedProgram& program, const std::string& socket,
                      std::chrono::milliseconds patience) {
  const HandedOver handed{program.process, program.fault_s, program.splits_huge};
  std::vector<int> descriptors = {program.port.descriptor(), program.ready.number(),
                                  program.until_exec.number()};
  if (program.report.is_open()) descriptors.push_back(program.report.number());
  const std::optional<std::string> said =
      ask(socket, std::as_bytes(std::span(&handed, 1)), descriptors, patience);
  if (!said) return "it does not answer";
  return *said == taken ? "" : *said;
}

}  // namespace huddle::threads
