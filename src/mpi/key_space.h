// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Data exchange between ranks on different nodes through the launcher's key-value space (PMI or
// PMIx). Values that are put before MPI_Init are visible on all ranks after it, because the MPI
// exchanges its own addresses in the same way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::mpi {

class KeySpace {
 public:
  KeySpace() = default;
  virtual ~KeySpace() = default;
  KeySpace(const KeySpace&) = delete;
  KeySpace& operator=(const KeySpace&) = delete;

  // Publishes this rank's value. Call once, before MPI_Init. Returns false if that is not possible.
  virtual bool tell(const std::string& value) = 0;
  // Returns whether `rank` published exactly `value`.
  // Requires: MPI_Init has returned and tell() returned true.
  virtual bool has_published(int rank, std::string_view value) = 0;
  // Releases the connection. Call early, because the MPI's own finalization must be the last.
  virtual void close() = 0;
  // Prepares for an exit without close(): the MPI's last messages must reach the launcher.
  virtual void leave() {}
};

// Returns a PMIx key space, or null if the environment ("NAME=value" lines) shows no PMIx server.
// If this process cannot use the server, tell() returns false and the other ranks see no value.
std::unique_ptr<KeySpace> pmix_key_space(const std::vector<std::string>& environment);
// Returns a PMI-1 key space if the launcher is Hydra (MPICH and its derivatives), else null.
std::unique_ptr<KeySpace> hydra_key_space(const std::vector<std::string>& environment);
// Returns a PMI-1 or PMI-2 key space if the launcher is Slurm's srun (--mpi=pmi2), else null.
std::unique_ptr<KeySpace> slurm_key_space(const std::vector<std::string>& environment);

// The PMI wire protocol: requests and answers on a socket from the launcher. A PMI-1 message is a
// line of words, a PMI-2 message a length followed by words that end with semicolons.
enum class PmiVersion { one, two };

// Returns the key under which a rank publishes its value.
std::string pmi_key_of(std::string_view rank);

// Returns the value of the word `name`: "0" for "rc" in "cmd=get_result rc=0 value=abc\n".
std::string pmi_word(PmiVersion version, std::string_view message, std::string_view name);

// Sends the whole message. Returns false if the peer has closed the connection.
bool send_pmi(int socket, std::string_view message);

// One message, without anything after it. It is incomplete if the peer has closed the connection,
// if it is too long, or if `stop` became readable.
struct PmiMessage {
  std::string text = {};  // including the framing
  bool is_whole = false;
};
PmiMessage receive_pmi(int socket, PmiVersion version, int stop = -1);

class PmiClient {
 public:
  PmiClient(int socket, PmiVersion version) : socket_(socket), version_(version) {}

  // Sends the init request that begins a PMI-1 session.
  bool introduce();
  // Puts a value of arbitrary bytes, which becomes visible with the next barrier or fence of all
  // ranks.
  bool put(std::string_view key, std::string_view value);
  // Returns whether exactly `value` was put under `key` and has become visible.
  bool has(std::string_view key, std::string_view value);

 private:
  bool learn_space();
  std::optional<std::string> answer_to(const std::string& request) const;
  bool is_accepted(const std::string& request) const;

  int socket_;
  PmiVersion version_;
  std::string space_;  // part of each PMI-1 request; empty: not requested yet
};

}  // namespace huddle::mpi
