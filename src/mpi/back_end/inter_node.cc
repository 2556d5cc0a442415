// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/inter_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/settings/settings.h"
#include "common/text.h"
#include "model/machine/locate.h"
#include "mpi/back_end/process.h"
#include "mpi/job_rank.h"
#include "mpi/libraries.h"
#include "runtime/context/errors.h"
#include "runtime/schedules/wire.h"

namespace huddle::mpi {
namespace {

// The smallest value that the MPI standard permits for MPI_TAG_UB; most MPIs have a larger one.
constexpr int most_tag = 32767;

// Time limit for the result of the node's lowest rank: longer than a launcher takes to answer
// requests about thousands of ranks.
constexpr std::chrono::seconds hearing_limit{10};

// The tag of wires whose ranks have not agreed on a tag yet.
constexpr int joining_tag = 0;

// Limit on the size of a message, because MPI counts are int.
constexpr std::size_t most_piece_bytes = std::size_t{512} << 20;

std::string library_version(const UnderlyingMpi& real) {
  std::array<char, max_library_version_string> text{};
  int length = 0;
  if (real.get_library_version == nullptr ||
      real.get_library_version(text.data(), &length) != success) {
    return {};
  }
  return text.data();
}

// Returns whether MPI_Init succeeds if the process has initialized PMIx before. In Open MPI 5 it
// fails.
bool shares_pmix(std::string_view version) { return version.starts_with("Open MPI v4"); }

// Creates a key space, of the same kind on all ranks of a job. Returns null if none is available.
std::unique_ptr<KeySpace> key_space_of(const UnderlyingMpi& real) {
  const std::vector<std::string>& environment = settings::process_sources().environment;
  const std::string version = library_version(real);
  if (version.starts_with("Open MPI")) {
    return shares_pmix(version) ? pmix_key_space(environment) : nullptr;
  }
  auto of_hydra = hydra_key_space(environment);
  return of_hydra ? std::move(of_hydra) : slurm_key_space(environment);
}

// Maps rank numbers on a wire to ranks in MPI_COMM_WORLD. Consecutive ranks take no memory.
class Peers {
 public:
  explicit Peers(std::span<const int> ranks) : first_(ranks.front()) {
    const auto gap = std::adjacent_find(ranks.begin(), ranks.end(),
                                        [](int rank, int next) { return next != rank + 1; });
    if (gap != ranks.end()) listed_.assign(ranks.begin(), ranks.end());
  }
  int operator[](int number) const {
    return listed_.empty() ? first_ + number : listed_[static_cast<std::size_t>(number)];
  }

 private:
  int first_;
  std::vector<int> listed_;
};

constexpr int anybody = -1;  // never a rank's number

void note_network_refusal(Comm* /*comm*/, int* code, ...) {
  process().inter_node().note_refusal(*code);
}

}  // namespace

// Sends and receives each message by one MPI request.
// Requires: messages of at most most_piece_bytes.
class InterNode::Messages : public schedules::Wire {
 public:
  Messages(InterNode& inter_node, std::span<const int> peers, int tag)
      : inter_node_(inter_node), peers_(peers), tag_(tag) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  // Does not release a tag with pending messages, so that it is never reused.
  ~Messages() override {
    if (free_.size() == requests_.size()) inter_node_.release_tag(tag_);
  }

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    const Ticket ticket = free_ticket();
    require(inter_node_.real_.isend(bytes.data(), static_cast<int>(bytes.size()),
                                    inter_node_.real_.byte, peers_[peer], tag_, inter_node_.comm_,
                                    &request_of(ticket)));
    return ticket;
  }
  // `peer` may be `anybody`.
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    const Ticket ticket = free_ticket();
    const int source = peer == anybody ? any_source : peers_[peer];
    require(inter_node_.real_.irecv(bytes.data(), static_cast<int>(bytes.size()),
                                    inter_node_.real_.byte, source, tag_, inter_node_.comm_,
                                    &request_of(ticket)));
    return ticket;
  }
  bool test(Ticket ticket) override {
    int ended = 0;
    const int status = inter_node_.real_.test(&request_of(ticket), &ended, status_ignore());
    if (inter_node_.is_truncation(status)) {
      free_.push_back(ticket);
      throw context::SizesDiffer("a message is larger than its receiver expects");
    }
    require(status);
    if (ended != 0) free_.push_back(ticket);
    return ended != 0;
  }

 private:
  Request& request_of(Ticket ticket) { return requests_[static_cast<std::size_t>(ticket)]; }
  Ticket free_ticket() {
    if (free_.empty()) {
      requests_.emplace_back();
      free_.reserve(requests_.size());
      return static_cast<Ticket>(requests_.size() - 1);
    }
    const Ticket ticket = free_.back();
    free_.pop_back();
    return ticket;
  }
  void require(int status) const {
    const int refusal = inter_node_.refusal_.load(std::memory_order_relaxed);
    if (status == success && refusal == success) return;
    throw context::PeerLost(
        fmt::format("the MPI does not carry a message to another node (error {})",
                    status != success ? status : refusal));
  }

  InterNode& inter_node_;
  Peers peers_;
  int tag_;
  std::vector<Request> requests_;
  std::vector<Ticket> free_;
};

// Messages of any size, sent in pieces.
class InterNode::MpiWire : public internode::RankWire {
 public:
  MpiWire(InterNode& inter_node, std::span<const int> peers, int tag)
      : messages_(inter_node, peers, tag), in_pieces_(messages_, most_piece_bytes) {}

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    return in_pieces_.send(peer, bytes);
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    return in_pieces_.receive(peer, bytes);
  }
  Ticket receive_from_any(std::span<std::byte> bytes) override {
    return in_pieces_.receive(anybody, bytes);
  }
  bool test(Ticket ticket) override { return in_pieces_.test(ticket); }

 private:
  Messages messages_;
  schedules::InPieces in_pieces_;
};

InterNode::InterNode(const UnderlyingMpi& real, const Options& options, Presence& presence,
                     std::string kind)
    : real_(real), options_(options), presence_(presence), kind_(std::move(kind)) {}

InterNode::~InterNode() = default;

// Returns whether the settings and the MPI calls so far permit inter-node communication. A job on
// one node does not need it.
bool InterNode::is_asked_for(bool has_threads) const {
  return !options_.off && options_.net != "off" && !has_threads && !had_session_ &&
         !presence_.is_job_on_one_node();
}

void InterNode::announce_presence(bool has_threads) {
  is_wanted_ = is_asked_for(has_threads);
  if (!is_wanted_ || has_told_) return;
  key_space_ = key_space_of(real_);
  if (options_.net == "measured") {
    is_wanted_ = key_space_ != nullptr && machine::has_network_file(options_.machine_file);
  }
  has_told_ = is_wanted_ && key_space_ != nullptr && key_space_->tell(kind_);
  if (has_told_) std::atexit([] { process().inter_node().key_space_->leave(); });
}

// Returns whether all ranks run huddle on this node. Some MPIs do not distribute key values in a
// job on one node, which does not need them.
bool InterNode::are_found_here(int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (!presence_.is_here(rank)) return false;
  }
  return true;
}

// Returns whether all ranks have published the same value as this rank. Only the lowest rank of
// each node queries the launcher about every rank, because N^2 queries would take longer than the
// start of the job. It sends the result to the other ranks of its node, which first check that it
// published their value. A rank that receives no result queries the launcher itself.
bool InterNode::have_all_told(int ranks) {
  const std::optional<int> first = presence_.first_here(ranks);
  const std::optional<int> own = presence_.own_rank();
  if (first && first != own) {
    if (!key_space_->has_told(*first, kind_)) return false;
    if (const std::optional<bool> heard = presence_.hear(hearing_limit)) return *heard;
  }
  bool all_here = true;
  for (int rank = 0; all_here && rank < ranks; ++rank) {
    all_here = key_space_->has_told(rank, kind_);
  }
  if (first && first == own) presence_.tell_others(ranks, all_here);
  return all_here;
}

// Returns whether all ranks run huddle. Uses published values only, so that all ranks get the same
// result: if ranks of one node have separate network namespaces, they see different ranks on the
// node.
bool InterNode::are_all_here(int ranks) {
  if (key_space_ == nullptr) return options_.net == "on";
  if (!has_told_) return false;
  const bool all_here = have_all_told(ranks);
  // Warns only users who requested inter-node teams.
  const bool is_asked = options_.net != "measured";
  if (!all_here && is_asked && !are_found_here(ranks) && is_reporting_rank()) {
    process().warn(
        "not every rank of this job has this version of huddle, HUDDLE_NET and the same "
        "HUDDLE_ACTIVATE_AFTER: collectives over several nodes are the MPI's");
  }
  return all_here;
}

void InterNode::begin(Comm world) {
  if (!is_wanted_) return;
  int ranks = 0;
  const bool all_here =
      real_.comm_size(world, &ranks) == success && ranks > 1 && are_all_here(ranks);
  if (key_space_ != nullptr) key_space_->close();
  if (!all_here) return;
  Errhandler takes_note{};
  is_open_ = real_.comm_dup(world, &comm_) == success;
  if (!is_open_ || real_.comm_create_errhandler(note_network_refusal, &takes_note) != success)
    return;
  real_.comm_set_errhandler(comm_, takes_note);
  real_.errhandler_free(&takes_note);
}

void InterNode::end() {
  if (std::exchange(is_open_, false)) real_.comm_free(&comm_);
}

std::string InterNode::mpi_title() const { return library_title(library_version(real_)); }

int InterNode::free_tag() const {
  const std::lock_guard lock(mutex_);
  const int tag = tags_.empty() ? 1 : *tags_.rbegin() + 1;
  return tag > most_tag ? 0 : tag;
}

std::unique_ptr<internode::RankWire> InterNode::wire(std::span<const int> peers, int tag) {
  {
    const std::lock_guard lock(mutex_);
    if (!tags_.insert(tag).second) {
      throw FailureError("two teams over several nodes came upon the same tag");
    }
  }
  return std::make_unique<MpiWire>(*this, peers, tag);
}

std::unique_ptr<schedules::Wire> InterNode::set_up_wire(std::span<const int> peers) {
  return std::make_unique<MpiWire>(*this, peers, joining_tag);
}

// Returns whether the MPI has reported a truncated message, by `status` or to the error handler,
// and clears this error. Only the receiver gets it.
bool InterNode::is_truncation(int status) {
  const int code = status != success ? status : refusal_.load(std::memory_order_relaxed);
  int kind = success;
  if (code == success || real_.error_class == nullptr ||
      real_.error_class(code, &kind) != success || kind != error_truncate) {
    return false;
  }
  refusal_.store(success, std::memory_order_relaxed);
  return true;
}

void InterNode::note_refusal(int code) { refusal_.store(code, std::memory_order_relaxed); }

std::string InterNode::report() const {
  if (traffic_.messages() == 0) return {};
  return fmt::format("rank 0 sent {} with {} to other nodes\n",
                     counted(static_cast<long long>(traffic_.messages()), "message"),
                     counted(static_cast<long long>(traffic_.bytes()), "byte"));
}

void InterNode::release_tag(int tag) {
  const std::lock_guard lock(mutex_);
  tags_.erase(tag);
}

}  // namespace huddle::mpi
