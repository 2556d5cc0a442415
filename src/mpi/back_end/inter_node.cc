// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/inter_node.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <list>
#include <optional>
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

// The other bits of a tag contain the mark of a call.
constexpr int tags_per_mark = most_tag + 1;
constexpr int most_marks = 1 << 16;

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
  explicit Peers(std::span<const int> ranks)
      : first_(ranks.front()), count_(static_cast<int>(ranks.size())) {
    const auto gap = std::adjacent_find(ranks.begin(), ranks.end(),
                                        [](int rank, int next) { return next != rank + 1; });
    if (gap != ranks.end()) listed_.assign(ranks.begin(), ranks.end());
  }
  int operator[](int number) const {
    return listed_.empty() ? first_ + number : listed_[static_cast<std::size_t>(number)];
  }
  // Returns the number of a rank of the world, or nothing if it is not in the team.
  std::optional<int> number_of(int rank) const {
    if (listed_.empty()) {
      return rank >= first_ && rank - first_ < count_ ? std::optional(rank - first_) : std::nullopt;
    }
    const auto found = std::find(listed_.begin(), listed_.end(), rank);
    if (found == listed_.end()) return std::nullopt;
    return static_cast<int>(found - listed_.begin());
  }

 private:
  int first_;
  int count_;
  std::vector<int> listed_;
};

// Never a rank's number.
constexpr int anybody = -1;
constexpr int nobody = -2;

// Only after an error.
constexpr std::chrono::milliseconds delivery_time{100};

// A cancelled receive ends at once, or when the MPI makes progress a few times.
constexpr int most_tests_of_cancelled = 1000;

void note_network_refusal(Comm* /*comm*/, int* code, ...) {
  process().inter_node().note_refusal(*code);
}

}  // namespace

// Sends and receives each message by one MPI request. The tag of a message contains the number of
// the team and the mark of the call.
// Requires: messages of at most most_piece_bytes.
class InterNode::Messages : public schedules::Wire {
 public:
  using Mark = internode::RankWire::Mark;

  Messages(InterNode& inter_node, std::span<const int> peers, int tag)
      : inter_node_(inter_node), real_(inter_node.real_), peers_(peers), tag_(tag) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  // Does not release a tag with pending messages, so that it is never reused. Posted messages may
  // be pending on another rank.
  ~Messages() override {
    if (free_.size() == started_.size() && !has_posted_) inter_node_.release_tag(tag_);
  }

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    return send(peer, mark_, bytes);
  }
  // `peer` may be `anybody`.
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    const Ticket ticket = free_ticket();
    Started& started = at(ticket);
    started.source = peer;
    started.bytes = bytes.size();
    const int source = peer == anybody ? any_source : peers_[peer];
    require(real_.irecv(bytes.data(), static_cast<int>(bytes.size()), real_.byte, source,
                        tag_of(mark_), inter_node_.comm_, &started.request));
    return ticket;
  }
  bool test(Ticket ticket) override {
    if (!has_ended(ticket)) return false;
    const Started& started = at(ticket);
    const bool is_of_other_size = started.source != nobody && !has_right_size(started);
    const bool was_cancelled = is_cancelled(started);
    release(ticket);
    if (was_cancelled) throw context::CallsDiffer("ranks make collective calls that differ", true);
    if (is_of_other_size) throw_sizes_differ();
    return true;
  }

  Mark marks() const { return inter_node_.marks_; }
  void set_mark(Mark mark) { mark_ = mark; }
  std::vector<int> awaited() const {
    std::vector<int> peers;
    for (const Started& started : started_) {
      if (started.source >= 0 && !started.has_ended) peers.push_back(started.source);
    }
    return peers;
  }
  std::optional<Mark> first_unexpected(int peer) {
    Status status{};
    if (!has_arrived(peers_[peer], any_tag, status)) return std::nullopt;
    if (status.tag % tags_per_mark != tag_) return std::nullopt;
    return static_cast<Mark>(status.tag / tags_per_mark);
  }
  bool cancel_receives(int peer) {
    bool is_any = false;
    for (std::size_t i = 0; i < started_.size(); ++i) {
      if (started_[i].source == peer) is_any |= cancel(static_cast<Ticket>(i));
    }
    return is_any;
  }
  void post(int peer, Mark mark, std::span<const std::byte> bytes) {
    std::erase_if(posted_, [this](Posted& posted) {
      if (!has_ended(posted.ticket)) return false;
      release(posted.ticket);
      return true;
    });
    has_posted_ = true;
    Posted& posted = posted_.emplace_back();
    posted.bytes.assign(bytes.begin(), bytes.end());
    posted.ticket = send(peer, mark, posted.bytes);
  }
  // The MPI may first have to connect to a rank, which it does not show.
  void deliver_posted() const {
    const auto end = std::chrono::steady_clock::now() + delivery_time;
    Status status{};
    while (std::chrono::steady_clock::now() < end) {
      has_arrived(any_source, any_tag, status);
      sched_yield();
    }
  }
  bool read(int peer, Mark mark, std::span<std::byte> bytes) {
    Status status{};
    if (!has_arrived(peers_[peer], tag_of(mark), status)) return false;
    read(status, bytes);
    return true;
  }
  // Drops messages of ranks that are not in the team: they belong to an earlier one.
  std::optional<int> read_any(Mark mark, std::span<std::byte> bytes) {
    Status status{};
    while (has_arrived(any_source, tag_of(mark), status)) {
      const std::optional<int> peer = peers_.number_of(status.source);
      read(status, bytes);
      if (peer) return peer;
    }
    return std::nullopt;
  }

 private:
  struct Started {
    Request request{};
    int source = nobody;  // a peer, or `anybody`; `nobody` for messages that are sent
    std::size_t bytes = 0;
    bool has_ended = false;
    bool may_be_cancelled = false;
    Status status{};  // once it has ended
  };
  struct Posted {
    std::vector<std::byte> bytes;
    Ticket ticket = 0;
  };

  Started& at(Ticket ticket) { return started_[static_cast<std::size_t>(ticket)]; }
  int tag_of(Mark mark) const { return static_cast<int>(mark) * tags_per_mark + tag_; }
  Ticket send(int peer, Mark mark, std::span<const std::byte> bytes) {
    const Ticket ticket = free_ticket();
    require(real_.isend(bytes.data(), static_cast<int>(bytes.size()), real_.byte, peers_[peer],
                        tag_of(mark), inter_node_.comm_, &at(ticket).request));
    return ticket;
  }
  bool has_ended(Ticket ticket) {
    Started& started = at(ticket);
    if (started.has_ended) return true;
    int ended = 0;
    const int code = real_.test(&started.request, &ended, &started.status);
    if (inter_node_.is_truncation(code)) {
      release(ticket);
      throw_sizes_differ();
    }
    require(code);
    started.has_ended = ended != 0;
    return started.has_ended;
  }
  bool has_right_size(const Started& started) const {
    int bytes = 0;
    return real_.get_count(&started.status, real_.byte, &bytes) != success ||
           static_cast<std::size_t>(bytes) == started.bytes;
  }
  bool is_cancelled(const Started& started) const {
    int cancelled = 0;
    return started.may_be_cancelled &&
           real_.test_cancelled(&started.status, &cancelled) == success && cancelled != 0;
  }
  // Returns whether the receive matched no message. If it did, it goes on.
  bool cancel(Ticket ticket) {
    Started& started = at(ticket);
    if (started.has_ended) return false;
    require(real_.cancel(&started.request));
    started.may_be_cancelled = true;
    for (int i = 0; i < most_tests_of_cancelled && !has_ended(ticket);) ++i;
    if (!started.has_ended || !is_cancelled(started)) return false;
    release(ticket);
    return true;
  }
  bool has_arrived(int source, int tag, Status& status) const {
    int has = 0;
    require(real_.iprobe(source, tag, inter_node_.comm_, &has, &status));
    return has != 0;
  }
  void read(const Status& status, std::span<std::byte> bytes) {
    Request request{};
    require(real_.irecv(bytes.data(), static_cast<int>(bytes.size()), real_.byte, status.source,
                        status.tag, inter_node_.comm_, &request));
    require(real_.wait(&request, status_ignore()));
  }
  Ticket free_ticket() {
    if (free_.empty()) {
      started_.emplace_back();
      free_.reserve(started_.size());
      return static_cast<Ticket>(started_.size() - 1);
    }
    const Ticket ticket = free_.back();
    free_.pop_back();
    return ticket;
  }
  void release(Ticket ticket) {
    at(ticket) = {};
    free_.push_back(ticket);
  }
  [[noreturn]] static void throw_sizes_differ() {
    throw context::SizesDiffer("a message has another size than its receiver expects");
  }
  void require(int status) const {
    const int refusal = inter_node_.refusal_.load(std::memory_order_relaxed);
    if (status == success && refusal == success) return;
    throw context::PeerLost(
        fmt::format("the MPI could not send a message to another node (error {})",
                    status != success ? status : refusal));
  }

  InterNode& inter_node_;
  const UnderlyingMpi& real_;
  Peers peers_;
  int tag_;
  Mark mark_ = 0;
  std::vector<Started> started_;
  std::vector<Ticket> free_;
  std::list<Posted> posted_;
  bool has_posted_ = false;
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

  Mark marks() const override { return messages_.marks(); }
  void set_mark(Mark mark) override { messages_.set_mark(mark); }
  std::vector<int> awaited() const override { return messages_.awaited(); }
  std::optional<Mark> first_unexpected(int peer) override {
    return messages_.first_unexpected(peer);
  }
  bool cancel_receives(int peer) override { return messages_.cancel_receives(peer); }
  void post(int peer, Mark mark, std::span<const std::byte> bytes) override {
    messages_.post(peer, mark, bytes);
  }
  void deliver_posted() override { messages_.deliver_posted(); }
  bool read(int peer, Mark mark, std::span<std::byte> bytes) override {
    return messages_.read(peer, mark, bytes);
  }
  std::optional<int> read_any(Mark mark, std::span<std::byte> bytes) override {
    return messages_.read_any(mark, bytes);
  }

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
    if (!key_space_->has_published(*first, kind_)) return false;
    if (const std::optional<bool> heard = presence_.hear(hearing_limit)) return *heard;
  }
  bool all_here = true;
  for (int rank = 0; all_here && rank < ranks; ++rank) {
    all_here = key_space_->has_published(rank, kind_);
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
        "not every rank of this job has the same version of huddle, HUDDLE_NET and "
        "HUDDLE_ACTIVATE_AFTER: the MPI runs the collectives over several nodes; start all ranks "
        "with the same huddle and settings");
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
  count_marks(world);
}

// The upper bound is equal on all ranks.
void InterNode::count_marks(Comm world) {
  const int* upper_bound = nullptr;
  int is_set = 0;
  if (real_.comm_get_attr(world, tag_upper_bound, static_cast<void*>(&upper_bound), &is_set) !=
          success ||
      is_set == 0) {
    return;
  }
  const std::int64_t marks = (std::int64_t{*upper_bound} + 1) / tags_per_mark;
  marks_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(marks, 1, most_marks));
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
      throw FailureError("two teams over several nodes would use the same message tag");
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
