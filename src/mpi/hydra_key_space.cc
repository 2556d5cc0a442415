// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// PMI-1 on the socket that Hydra gives to each process: a line of words there, a line back. The MPI
// uses the same socket, in MPI_Init and in MPI_Finalize, and nothing that is said here is in its
// way: it introduces itself once more, and its own barrier carries what was put.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "mpi/key_space.h"
#include "settings/settings.h"

namespace huddle::mpi {
namespace {

constexpr std::size_t most_line = 4096;

// Values are words there: no spaces, no line ends.
std::string as_word(std::string_view value) {
  std::string word;
  for (const char letter : value) {
    word += fmt::format("{:02x}", static_cast<unsigned int>(static_cast<unsigned char>(letter)));
  }
  return word;
}

std::string key_of(std::string_view rank) { return fmt::format("huddle.kind.{}", rank); }

// "cmd=get_result rc=0 value=abc": the value of one of its words.
std::string word_of(std::string_view line, std::string_view name) {
  for (const std::string_view word : split(line, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && word.substr(0, equals) == name) {
      return std::string(word.substr(equals + 1));
    }
  }
  return {};
}

class HydraKeySpace : public KeySpace {
 public:
  HydraKeySpace(int socket, std::string rank) : socket_(socket), rank_(std::move(rank)) {}

  // Before a process has introduced itself, what it puts is lost.
  bool tell(const std::string& value) override {
    if (!is_accepted("cmd=init pmi_version=1 pmi_subversion=1")) return false;
    const std::optional<std::string> answer = answer_to("cmd=get_my_kvsname");
    space_ = answer ? word_of(*answer, "kvsname") : "";
    return !space_.empty() && is_accepted(fmt::format("cmd=put kvsname={} key={} value={}", space_,
                                                      key_of(rank_), as_word(value)));
  }

  bool has_told(int rank, std::string_view value) override {
    const std::optional<std::string> answer =
        answer_to(fmt::format("cmd=get kvsname={} key={}", space_, key_of(std::to_string(rank))));
    return answer && word_of(*answer, "rc") == "0" && word_of(*answer, "value") == as_word(value);
  }

  bool is_slow_to_deny() const override { return false; }

  // The socket is the MPI's.
  void close() override {}

 private:
  bool is_accepted(const std::string& words) const {
    const std::optional<std::string> answer = answer_to(words);
    return answer && word_of(*answer, "rc") == "0";
  }

  std::optional<std::string> answer_to(const std::string& words) const {
    const std::string line = words + "\n";
    std::size_t written = 0;
    while (written < line.size()) {
      const ssize_t n = ::send(socket_, line.data() + written, line.size() - written, MSG_NOSIGNAL);
      if (n > 0) {
        written += static_cast<std::size_t>(n);
      } else if (!is_to_be_tried_again(POLLOUT)) {
        return std::nullopt;
      }
    }
    // A letter at a time: what comes after the line is not for us.
    std::string answer;
    while (answer.size() < most_line) {
      char letter = 0;
      const ssize_t n = ::read(socket_, &letter, 1);
      if (n == 1 && letter == '\n') return answer;
      if (n == 1) {
        answer += letter;
      } else if (n == 0 || !is_to_be_tried_again(POLLIN)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // An answer that was not read would be the MPI's to read.
  bool is_to_be_tried_again(short event) const {
    if (errno == EINTR) return true;
    if (errno != EAGAIN) return false;
    pollfd wait{socket_, event, 0};
    return ::poll(&wait, 1, -1) > 0 || errno == EINTR;
  }

  int socket_;
  std::string rank_;
  std::string space_;
};

}  // namespace

// Others give a process such a socket, too, and may speak another version of it there: Hydra alone
// says as well how many ranks are on this node.
std::unique_ptr<KeySpace> hydra_key_space(const std::vector<std::string>& environment) {
  const std::string socket = settings::value_of(environment, "PMI_FD");
  std::string rank = settings::value_of(environment, "PMI_RANK");
  if (rank.empty() || settings::value_of(environment, "MPI_LOCALNRANKS").empty()) return nullptr;
  int number = -1;
  const auto [end, error] = std::from_chars(socket.data(), socket.data() + socket.size(), number);
  if (error != std::errc() || end != socket.data() + socket.size() || number < 0) return nullptr;
  return std::make_unique<HydraKeySpace>(number, std::move(rank));
}

}  // namespace huddle::mpi
