// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What ranks of a job tell each other across nodes by way of their launcher. What is put there
// before the MPI begins has arrived everywhere once it has begun, for it exchanges its own
// addresses so.
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

  // Before the MPI comes up, once. False: nobody will hear it.
  virtual bool tell(const std::string& value) = 0;
  // Whether that rank told just this; after it has. pre: tell() was true.
  virtual bool has_told(int rank, std::string_view value) = 0;
  // As early as may be: the MPI's own end of it is the last.
  virtual void close() = 0;
  // The process ends before that: whatever the MPI says last has to reach the launcher.
  virtual void leave() {}
};

// Where the launcher offers PMIx, by an environment of "NAME=value" lines; else null. If it is
// there and this process cannot use it, the others see nothing of it.
std::unique_ptr<KeySpace> pmix_key_space(const std::vector<std::string>& environment);
// Where it is Hydra, the launcher of MPICH and its family, that speaks PMI-1; else null.
std::unique_ptr<KeySpace> hydra_key_space(const std::vector<std::string>& environment);
// Where it is Slurm's srun, that speaks PMI-1 or PMI-2 (--mpi=pmi2); else null.
std::unique_ptr<KeySpace> slurm_key_space(const std::vector<std::string>& environment);

// PMI as a process speaks it with its launcher, on a socket that it has from it: a request, an
// answer. In version 1 a message is a line of words, in version 2 they stand behind their length.
enum class PmiVersion { one, two };

// Under which a rank tells the others what they need to know of it.
std::string pmi_key_of(std::string_view rank);

// "cmd=get_result rc=0 value=abc\n": the value of one of a message's words.
std::string pmi_word(PmiVersion version, std::string_view message, std::string_view name);

// All of it; false where the other end is gone.
bool send_pmi(int socket, std::string_view message);

// The next message and nothing behind it. What there was of it where the other end is gone, it is
// too long to be one, or `stop` can be read from.
struct PmiMessage {
  std::string text = {};  // with all that frames it
  bool is_whole = false;
};
PmiMessage receive_pmi(int socket, PmiVersion version, int stop = -1);

class PmiClient {
 public:
  PmiClient(int socket, PmiVersion version) : socket_(socket), version_(version) {}

  // As version 1 begins.
  bool introduce();
  // A value of any letters. It arrives everywhere with the next barrier or fence of all.
  bool put(std::string_view key, std::string_view value);
  // Whether just this was put, and has arrived.
  bool has(std::string_view key, std::string_view value);

 private:
  bool learn_space();
  std::optional<std::string> answer_to(const std::string& request) const;
  bool is_accepted(const std::string& request) const;

  int socket_;
  PmiVersion version_;
  std::string space_;  // version 1 names it in each request; empty: not asked for yet
};

}  // namespace huddle::mpi
