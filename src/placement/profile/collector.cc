// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/profile/collector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <linux/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "common/calling_thread.h"
#include "common/error.h"
#include "common/file.h"

namespace huddle::profile {
namespace {

constexpr std::size_t token_letters = 32;
// Upper bound of the size of a part. A longer message does not come from a rank.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
// Timeout for a peer that does not respond: an unreachable host or an unrelated client.
constexpr timeval wait{.tv_sec = 20, .tv_usec = 0};
constexpr char confirmed = 'k';

class Socket {
 public:
  explicit Socket(int number) : number_(number) {
    if (number_ < 0) return;
    ::setsockopt(number_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ::setsockopt(number_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  }
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  bool send(const void* data, std::size_t bytes) const {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t sent = ::send(number_, at, bytes, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      at += sent;
      bytes -= static_cast<std::size_t>(sent);
    }
    return true;
  }
  bool receive(void* data, std::size_t bytes) const {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t got = ::recv(number_, at, bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int number_;
};

std::string new_token() {
  std::array<unsigned char, token_letters / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw FailureError("the system provides no random numbers");
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// Returns the IPv4 addresses of all interfaces that are up, except loopback.
std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> keeper(list, &::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const bool leads_out = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || !leads_out) continue;
    std::array<char, NI_MAXHOST> name{};
    if (::getnameinfo(one->ifa_addr, sizeof(sockaddr_in), name.data(), name.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      addresses.emplace_back(name.data());
    }
  }
  return addresses;
}

int connected_to(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return -1;
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(std::string(address.substr(0, colon)).c_str(),
                    std::string(address.substr(colon + 1)).c_str(), &hints, &found) != 0) {
    return -1;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> keeper(found, &::freeaddrinfo);
  const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) return -1;
  ::setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  if (::connect(number, found->ai_addr, found->ai_addrlen) == 0) return number;
  ::close(number);
  return -1;
}

bool deliver(const Socket& socket, std::string_view token, std::string_view bytes) {
  const std::uint64_t length = bytes.size();
  char answer = 0;
  return socket.is_open() && socket.send(token.data(), token.size()) &&
         socket.send(&length, sizeof length) && socket.send(bytes.data(), bytes.size()) &&
         socket.receive(&answer, 1) && answer == confirmed;
}

}  // namespace

Collector::Collector(std::string folder) : folder_(std::move(folder)), token_(new_token()) {
  observer_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t bytes = sizeof any;
  if (observer_ < 0 || ::bind(observer_, reinterpret_cast<sockaddr*>(&any), bytes) != 0 ||
      ::listen(observer_, SOMAXCONN) != 0 ||
      ::getsockname(observer_, reinterpret_cast<sockaddr*>(&any), &bytes) != 0) {
    const std::string why = std::strerror(errno);
    if (observer_ >= 0) ::close(observer_);
    throw FailureError(
        fmt::format("cannot create a socket for the data of ranks on other hosts: {}", why));
  }
  port_ = ntohs(any.sin_port);
  std::vector<std::string> places;
  for (const std::string& own : own_addresses()) {
    places.push_back(fmt::format("{}:{}", own, port_));
  }
  address_ = fmt::format("{}@{}", token_, fmt::join(places, ","));
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  const WithoutSignals for_the_thread;
  thread_ = std::thread([this] { serve(); });
}

Collector::~Collector() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
  thread_.join();
  ::close(observer_);
  ::close(stop_);
}

void Collector::serve() {
  for (;;) {
    std::array<pollfd, 2> ready = {{{observer_, POLLIN, 0}, {stop_, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    if (ready[0].revents != 0) {
      take(::accept4(observer_, nullptr, nullptr, SOCK_CLOEXEC));
    } else if (ready[1].revents != 0) {
      return;
    }
  }
}

// Receives one part. Drops connections that do not begin with the token.
void Collector::take(int connection) {
  const Socket socket(connection);
  std::array<char, token_letters> token{};
  std::uint64_t length = 0;
  if (!socket.is_open() || !socket.receive(token.data(), token.size()) ||
      std::string_view(token.data(), token.size()) != token_ ||
      !socket.receive(&length, sizeof length) || length > most_bytes) {
    return;
  }
  std::string bytes(length, '\0');
  if (!socket.receive(bytes.data(), bytes.size())) return;
  try {
    write_text(bytes, fmt::format("{}/sent-{}", folder_, taken_++));
    socket.send(&confirmed, 1);
  } catch (const Error&) {
    return;  // the sender notices that the confirmation is missing
  }
}

bool deliver(std::string_view address, std::string_view bytes) {
  const std::size_t at = address.find('@');
  if (at == std::string_view::npos) return false;
  const std::string_view token = address.substr(0, at);
  std::string_view places = address.substr(at + 1);
  while (!places.empty()) {
    const std::size_t end = std::min(places.find(','), places.size());
    if (deliver(Socket(connected_to(places.substr(0, end))), token, bytes)) return true;
    places.remove_prefix(std::min(end + 1, places.size()));
  }
  return false;
}

}  // namespace huddle::profile
