// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "doctor/sibling_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <utility>

namespace huddle::doctor {
namespace {

// The two processes need a millisecond; a machine in deep trouble gets this long.
constexpr int patience_ms = 5000;

using Block = std::array<char, 64>;
constexpr Block owners_words = {"what the owner wrote"};

// What the owner tells the reader; the descriptor itself travels beside it.
struct Offer {
  pid_t owner = 0;
  int descriptor = -1;
  const void* address = nullptr;
  int memfd_error = 0;
};

// A descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { close(); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// A child that does not outlive this object.
class Child {
 public:
  explicit Child(const std::function<void()>& body) : pid_(::fork()) {
    if (pid_ < 0) {
      throw ProbeError("cannot start a process", errno);
    }
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      body();
    } catch (...) {
      ::_exit(1);  // never into the caller's code a second time
    }
    ::_exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  pid_t pid_;
};

// A message of one Offer with room for one descriptor. The message points into itself: no copies.
struct OfferMessage {
  Offer offer;
  iovec data{&offer, sizeof offer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};

  OfferMessage() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  OfferMessage(const OfferMessage&) = delete;
  OfferMessage& operator=(const OfferMessage&) = delete;
};

void send_offer(int socket, const Offer& offer) {
  OfferMessage message;
  message.offer = offer;
  if (offer.descriptor < 0) {
    message.header.msg_control = nullptr;
    message.header.msg_controllen = 0;
  } else {
    cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &offer.descriptor, sizeof(int));
  }
  ::sendmsg(socket, &message.header, MSG_NOSIGNAL);
}

struct Received {
  Offer offer;
  Fd descriptor;
};

Received receive_offer(int socket) {
  OfferMessage message;
  Received received;
  if (::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC) <= 0) return received;
  received.offer = message.offer;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
    received.descriptor = Fd(fd);
  }
  return received;
}

// The owner lives until it is told to end: nobody watches it.
int try_memory_read(const Offer& offer, const single_copy::PeerPath& path) {
  Block copy{};
  const auto memory = single_copy::open(path, {.process = offer.owner});
  const single_copy::ErrorNumber error =
      memory->read(reinterpret_cast<std::byte*>(copy.data()),
                   reinterpret_cast<std::uintptr_t>(offer.address), copy.size());
  if (error != single_copy::fine) return error;
  return copy == owners_words ? 0 : EIO;
}

// Can what the descriptor names be mapped, and does it hold what the owner wrote?
int try_descriptor(int fd) {
  if (fd < 0) return errno;
  Block copy{};
  void* const mapped = ::mmap(nullptr, copy.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return errno;
  std::memcpy(copy.data(), mapped, copy.size());
  ::munmap(mapped, copy.size());
  return copy == owners_words ? 0 : EIO;
}

int try_proc(const Offer& offer) {
  const std::string path = fmt::format("/proc/{}/fd/{}", offer.owner, offer.descriptor);
  const Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return try_descriptor(fd.get());
}

int system_call_result(long result) { return static_cast<int>(result); }

int try_pidfd(const Offer& offer) {
  const Fd process(system_call_result(::syscall(SYS_pidfd_open, offer.owner, 0)));
  if (process.get() < 0) return errno;
  const Fd fd(system_call_result(::syscall(SYS_pidfd_getfd, process.get(), offer.descriptor, 0)));
  return try_descriptor(fd.get());
}

void be_owner(int socket, const SiblingOptions& options) {
  if (options.prepare != nullptr) options.prepare();
  if (options.allow_tracers) ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const Block words = owners_words;
  Offer offer{.owner = ::getpid(), .address = words.data()};
  offer.descriptor = ::memfd_create("huddle-doctor", MFD_CLOEXEC);
  if (offer.descriptor < 0 || ::pwrite(offer.descriptor, words.data(), words.size(), 0) < 0) {
    offer.memfd_error = errno;
  }
  send_offer(socket, offer);
  // Stays until the reader has gone, whose end of the socket closes then.
  char nothing = 0;
  while (::read(socket, &nothing, 1) < 0 && errno == EINTR) {
  }
}

// What the reader answers, in one message: a number for each attempt.
constexpr std::size_t descriptor_attempts = 3;
std::vector<int> numbers_of(const SiblingResults& results) {
  std::vector<int> numbers = {results.descriptor_by_socket, results.descriptor_by_proc,
                              results.descriptor_by_pidfd};
  numbers.insert(numbers.end(), results.memory_reads.begin(), results.memory_reads.end());
  return numbers;
}
SiblingResults results_of(const std::vector<int>& numbers) {
  return {
      numbers[0], numbers[1], numbers[2], {numbers.begin() + descriptor_attempts, numbers.end()}};
}

void be_reader(int socket, int answer, const SiblingOptions& options) {
  if (options.prepare != nullptr) options.prepare();
  const Received received = receive_offer(socket);
  if (received.offer.owner == 0) return;
  SiblingResults results;
  for (const single_copy::PeerPath& path : options.paths) {
    results.memory_reads.push_back(try_memory_read(received.offer, path));
  }
  if (received.offer.memfd_error != 0) {
    results.descriptor_by_socket = received.offer.memfd_error;
    results.descriptor_by_proc = received.offer.memfd_error;
    results.descriptor_by_pidfd = received.offer.memfd_error;
  } else {
    errno = EBADF;
    results.descriptor_by_socket = try_descriptor(received.descriptor.get());
    results.descriptor_by_proc = try_proc(received.offer);
    results.descriptor_by_pidfd = try_pidfd(received.offer);
  }
  const std::vector<int> numbers = numbers_of(results);
  const std::size_t bytes = numbers.size() * sizeof(int);
  if (::write(answer, numbers.data(), bytes) != static_cast<ssize_t>(bytes)) ::_exit(1);
}

SiblingResults wait_for_answer(int answer, std::size_t paths) {
  pollfd waiting{answer, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, patience_ms);
  } while (ready < 0 && errno == EINTR);
  std::vector<int> numbers(descriptor_attempts + paths);
  const std::size_t bytes = numbers.size() * sizeof(int);
  if (ready <= 0 || ::read(answer, numbers.data(), bytes) != static_cast<ssize_t>(bytes)) {
    throw FailureError("two processes started for the probe did not answer");
  }
  return results_of(numbers);
}

}  // namespace

SiblingResults probe_siblings(const SiblingOptions& options) {
  std::array<int, 2> between{};
  std::array<int, 2> answer{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, between.data()) != 0) {
    throw ProbeError("cannot make a socket pair", errno);
  }
  Fd owners_end(between[0]);
  Fd readers_end(between[1]);
  if (::pipe2(answer.data(), O_CLOEXEC) != 0) {
    throw ProbeError("cannot make a pipe", errno);
  }
  const Fd answer_out(answer[0]);
  Fd answer_in(answer[1]);
  const Child owner([&] {
    readers_end.close();
    be_owner(owners_end.get(), options);
  });
  const Child reader([&] {
    owners_end.close();
    be_reader(readers_end.get(), answer_in.get(), options);
  });
  owners_end.close();
  readers_end.close();
  answer_in.close();
  return wait_for_answer(answer_out.get(), options.paths.size());
}

}  // namespace huddle::doctor
