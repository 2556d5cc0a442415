// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "common/settings/settings.h"
#include "common/system.h"
#include "common/text.h"
#include "mpi/key_space.h"

namespace huddle::mpi {
namespace {

constexpr std::size_t most_message = 4096;
constexpr std::size_t length_letters = 6;  // of the length that begins a PMI-2 message

// Encodes a value in hexadecimal, because it must not contain spaces, semicolons or line ends.
std::string as_word(std::string_view value) {
  std::string word;
  for (const char letter : value) {
    word += fmt::format("{:02x}", static_cast<unsigned int>(static_cast<unsigned char>(letter)));
  }
  return word;
}

// Waits until `socket` is ready for `event`. There is no timeout, because the MPI would later read
// an answer that huddle left unread. Returns false if only `stop` is readable.
bool wait_for(int socket, short event, int stop) {
  std::array<pollfd, 2> waits = {pollfd{socket, event, 0}, pollfd{stop, POLLIN, 0}};
  while (poll(waits.data(), waits.size(), -1) < 0) {
    if (errno != EINTR) return true;  // send() or read() will report the error
  }
  return waits[0].revents != 0 || waits[1].revents == 0;
}

// Returns the length of the message that begins with `beginning`, or 0 if it is not known yet.
std::size_t length_of(PmiVersion version, std::string_view beginning) {
  if (version == PmiVersion::one) {
    return beginning.ends_with('\n') ? beginning.size() : 0;
  }
  if (beginning.size() < length_letters) return 0;
  std::string_view length = beginning.substr(0, length_letters);
  while (length.starts_with(' ')) length.remove_prefix(1);
  while (length.ends_with(' ')) length.remove_suffix(1);
  const auto letters = whole_number(length);
  return letters ? length_letters + static_cast<std::size_t>(*letters) : most_message + 1;
}

}  // namespace

std::string pmi_key_of(std::string_view rank) { return fmt::format("huddle.kind.{}", rank); }

std::string pmi_word(PmiVersion version, std::string_view message, std::string_view name) {
  if (version == PmiVersion::two) message.remove_prefix(std::min(message.size(), length_letters));
  while (message.ends_with('\n')) message.remove_suffix(1);
  for (const std::string_view word : split(message, version == PmiVersion::one ? ' ' : ';')) {
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && word.substr(0, equals) == name) {
      return std::string(word.substr(equals + 1));
    }
  }
  return {};
}

bool send_pmi(int socket, std::string_view message) {
  while (!message.empty()) {
    const ssize_t n = ::send(socket, message.data(), message.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      message.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      wait_for(socket, POLLOUT, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Reads one byte at a time, because data after the message belong to another reader.
PmiMessage receive_pmi(int socket, PmiVersion version, int stop) {
  PmiMessage message;
  while (!message.is_whole) {
    char letter = 0;
    if (message.text.size() == most_message || !wait_for(socket, POLLIN, stop)) return message;
    const ssize_t n = ::read(socket, &letter, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return message;
    message.text += letter;
    const std::size_t length = length_of(version, message.text);
    if (length > most_message) return message;
    message.is_whole = message.text.size() == length;
  }
  return message;
}

std::optional<std::string> PmiClient::answer_to(const std::string& request) const {
  const std::string message = version_ == PmiVersion::one
                                  ? request + '\n'
                                  : fmt::format("{:<6}{}", request.size(), request);
  if (!send_pmi(socket_, message)) return std::nullopt;
  PmiMessage answer = receive_pmi(socket_, version_);
  return answer.is_whole ? std::optional(std::move(answer.text)) : std::nullopt;
}

bool PmiClient::is_accepted(const std::string& request) const {
  const std::optional<std::string> answer = answer_to(request);
  return answer && pmi_word(version_, *answer, "rc") == "0";
}

bool PmiClient::introduce() { return is_accepted("cmd=init pmi_version=1 pmi_subversion=1"); }

bool PmiClient::learn_space() {
  if (space_.empty()) {
    const std::optional<std::string> answer = answer_to("cmd=get_my_kvsname");
    if (answer) space_ = pmi_word(version_, *answer, "kvsname");
  }
  return !space_.empty();
}

bool PmiClient::put(std::string_view key, std::string_view value) {
  if (version_ == PmiVersion::two) {
    return is_accepted(fmt::format("cmd=kvs-put;key={};value={};", key, as_word(value)));
  }
  return learn_space() && is_accepted(fmt::format("cmd=put kvsname={} key={} value={}", space_, key,
                                                  as_word(value)));
}

bool PmiClient::has(std::string_view key, std::string_view value) {
  std::string request = fmt::format("cmd=kvs-get;key={};", key);
  if (version_ == PmiVersion::one) {
    if (!learn_space()) return false;
    request = fmt::format("cmd=get kvsname={} key={}", space_, key);
  }
  const std::optional<std::string> answer = answer_to(request);
  return answer && pmi_word(version_, *answer, "rc") == "0" &&
         pmi_word(version_, *answer, "value") == as_word(value);
}

// PMI-1 on the socket that Hydra passes to each process. The MPI uses the same socket in MPI_Init
// and MPI_Finalize. Requests that huddle sends before MPI_Init do not disturb it: Hydra accepts a
// second init request, and the MPI's own barrier distributes the value.
namespace {

class HydraKeySpace : public KeySpace {
 public:
  HydraKeySpace(int socket, std::string rank)
      : client_(socket, PmiVersion::one), rank_(std::move(rank)) {}

  // Sends an init request first, because Hydra drops values that are put before it.
  bool tell(const std::string& value) override {
    return client_.introduce() && client_.put(pmi_key_of(rank_), value);
  }
  bool has_published(int rank, std::string_view value) override {
    return client_.has(pmi_key_of(std::to_string(rank)), value);
  }

  // Nothing to do: the MPI owns the socket.
  void close() override {}

 private:
  PmiClient client_;
  std::string rank_;
};

}  // namespace

// Other launchers pass such a socket as well, but may accept only one init request.
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
