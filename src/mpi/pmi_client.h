// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// PMI as a process speaks it with its launcher, on a socket that it has from it: a request, an
// answer. In version 1 a message is a line of words, in version 2 they stand behind their length.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace huddle::mpi {

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
