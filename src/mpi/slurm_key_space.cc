// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// PMI on the socket that `srun --mpi=pmi2` passes to each process. Slurm accepts only one init
// request per process, and the MPI chooses the version of PMI. So huddle relays the MPI's init
// request, and puts its own value before it forwards the answer; the MPI's own barrier or fence
// distributes the value. After MPI_Init the MPI uses the socket directly again.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>
#include <thread>

#include "common/calling_thread.h"
#include "common/file.h"
#include "common/settings/settings.h"
#include "common/system.h"
#include "mpi/key_space.h"

namespace huddle::mpi {
namespace {

constexpr std::size_t most_at_once = 4096;

// Returns the inode behind a descriptor, which is the same for all duplicates.
std::optional<ino_t> inode_of(int descriptor) {
  struct stat what {};
  if (fstat(descriptor, &what) != 0) return std::nullopt;
  return what.st_ino;
}

// Relays messages between the MPI, whose descriptor number stays the same, and the launcher. When
// the relay ends, which happens once, the number denotes the launcher's socket again.
class PmiRelay {
 public:
  PmiRelay(int socket, std::string key, std::string value)
      : number_(socket), key_(std::move(key)), value_(std::move(value)), process_(getpid()) {}
  ~PmiRelay() { end(); }
  PmiRelay(const PmiRelay&) = delete;
  PmiRelay& operator=(const PmiRelay&) = delete;

  // Starts the relay. Returns false if it could not start; the socket is then unchanged.
  bool begin() {
    std::array<int, 2> ends{};
    launcher_ = FileDescriptor(fcntl(number_, F_DUPFD_CLOEXEC, 0));
    stop_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
    if (!launcher_.is_open() || !stop_.is_open() ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      return false;
    }
    mpi_ = FileDescriptor(ends[0]);
    const FileDescriptor of_mpi(ends[1]);
    inode_ = inode_of(of_mpi.number());
    try {
      const WithoutSignals without_signals;
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    if (inode_ && dup2(of_mpi.number(), number_) == number_) return true;
    end();
    return false;
  }

  // Ends the relay after it has forwarded all data received so far.
  void end() {
    if (!thread_.joinable()) return;
    if (getpid() != process_) {
      thread_.detach();  // the thread does not exist in a forked child
      return;
    }
    eventfd_write(stop_.number(), 1);
    thread_.join();
    // The MPI may have closed the descriptor, and its number may have been reused.
    if (inode_of(number_) == inode_) dup2(launcher_.number(), number_);
    launcher_ = FileDescriptor();
    mpi_ = FileDescriptor();
  }

  // Returns the PMI version that the MPI uses, or nullopt if it has not sent a valid init request.
  // Requires: end() was called.
  std::optional<PmiVersion> version() const { return version_; }

 private:
  void run() {
    introduce();
    pass();
  }

  // Puts the value while the MPI waits for the answer to its init request.
  void introduce() {
    PmiMessage answer;
    const PmiMessage request = forward(PmiVersion::one, answer);
    const std::string number = pmi_word(PmiVersion::one, request.text, "pmi_version");
    PmiVersion version = PmiVersion::one;
    if (answer.is_whole && number == "2") {
      version = PmiVersion::two;
      send_pmi(mpi_.number(), answer.text);
      forward(version, answer);
    }
    const bool is_heard = number == "1" || number == "2";
    if (is_heard && answer.is_whole && pmi_word(version, answer.text, "rc") == "0") {
      version_ = version;
      PmiClient(launcher_.number(), version).put(key_, value_);
    }
    send_pmi(mpi_.number(), answer.text);
  }

  // Forwards a request of the MPI, and stores the launcher's answer without forwarding it.
  PmiMessage forward(PmiVersion version, PmiMessage& answer) {
    answer = {};
    PmiMessage request = receive_pmi(mpi_.number(), version, stop_.number());
    if (send_pmi(launcher_.number(), request.text) && request.is_whole) {
      answer = receive_pmi(launcher_.number(), version, stop_.number());
    }
    return request;
  }

  // Forwards in both directions, until the MPI closes its end, or until `stop_` is readable and no
  // data are left.
  void pass() {
    const int stop = stop_.number();
    std::array<pollfd, 3> waits = {pollfd{mpi_.number(), POLLIN, 0},
                                   pollfd{launcher_.number(), POLLIN, 0}, pollfd{stop, POLLIN, 0}};
    while (true) {
      if (poll(waits.data(), waits.size(), -1) < 0) {
        if (errno != EINTR) return;
        continue;
      }
      const bool is_quiet = waits[0].revents == 0 && waits[1].revents == 0;
      if (is_quiet && waits[2].revents != 0) return;
      if (waits[0].revents != 0 && !pass_on(mpi_.number(), launcher_.number())) {
        shutdown(launcher_.number(), SHUT_RDWR);
        return;
      }
      if (waits[1].revents != 0 && !pass_on(launcher_.number(), mpi_.number())) {
        shutdown(mpi_.number(), SHUT_WR);
        waits[1].fd = -1;
      }
    }
  }
  static bool pass_on(int from, int to) {
    std::array<char, most_at_once> bytes{};
    const ssize_t n = read(from, bytes.data(), bytes.size());
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    return n > 0 && send_pmi(to, {bytes.data(), static_cast<std::size_t>(n)});
  }

  int number_;
  std::string key_, value_;
  pid_t process_;
  FileDescriptor launcher_, mpi_, stop_;
  std::optional<ino_t> inode_;  // of the MPI's end
  std::optional<PmiVersion> version_;
  std::thread thread_;
};

class SlurmKeySpace : public KeySpace {
 public:
  SlurmKeySpace(int socket, std::string rank) : socket_(socket), rank_(std::move(rank)) {}

  bool tell(const std::string& value) override {
    relay_.emplace(socket_, pmi_key_of(rank_), value);
    return relay_->begin();
  }
  bool has_published(int rank, std::string_view value) override {
    if (!client_) {
      relay_->end();
      if (!relay_->version()) return false;
      client_.emplace(socket_, *relay_->version());
    }
    return client_->has(pmi_key_of(std::to_string(rank)), value);
  }

  void close() override { leave(); }
  void leave() override {
    if (relay_) relay_->end();
  }

 private:
  int socket_;
  std::string rank_;
  std::optional<PmiRelay> relay_;
  std::optional<PmiClient> client_;  // set after MPI_Init
};

}  // namespace

// PMI_JOBID must match the step, because processes of other launchers in a step inherit its
// variables.
std::unique_ptr<KeySpace> slurm_key_space(const std::vector<std::string>& environment) {
  const auto value = [&](std::string_view name) { return settings::value_of(environment, name); };
  const auto socket = whole_number(value("PMI_FD"));
  std::string rank = value("PMI_RANK");
  const std::string step = value("SLURM_STEP_ID");
  if (!socket || *socket < 0 || rank.empty() || step.empty() ||
      value("PMI_JOBID") != value("SLURM_JOB_ID") + "." + step) {
    return nullptr;
  }
  return std::make_unique<SlurmKeySpace>(static_cast<int>(*socket), std::move(rank));
}

}  // namespace huddle::mpi
