// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/schedules/check_memory.h"

namespace huddle::schedules {
namespace {

// For barriers: a bit for each pair of ranks, set once the first knows that the second has arrived.
class Heard {
 public:
  explicit Heard(int ranks) : ranks_(ranks), now_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      auto& bits = now_[static_cast<std::size_t>(rank)];
      bits.resize(static_cast<std::size_t>(ranks));
      bits[static_cast<std::size_t>(rank)] = true;
    }
    before_ = now_;
  }
  void begin_round() { before_ = now_; }
  void receive(int rank, int from) {
    auto& bits = now_[static_cast<std::size_t>(rank)];
    const auto& more = before_[static_cast<std::size_t>(from)];
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = bits[i] || more[i];
  }
  void require_all() const {
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto& bits = now_[static_cast<std::size_t>(rank)];
      const auto missing = std::find(bits.begin(), bits.end(), false);
      if (missing == bits.end()) continue;
      throw Flaw(fmt::format("rank {} leaves the barrier before it has heard from rank {}", rank,
                             missing - bits.begin()));
    }
  }

 private:
  int ranks_;
  std::vector<std::vector<bool>> now_;
  std::vector<std::vector<bool>> before_;
};

class Check {
 public:
  explicit Check(const Proof& proof)
      : proof_(proof),
        ranks_(proof.schedule.ranks()),
        memory_(proof),
        brackets_(ranks_),
        contributors_(ranks_),
        heard_(proof.operation == Operation::barrier ? ranks_ : 0),
        rounds_(static_cast<std::size_t>(ranks_)),
        counted_(static_cast<std::size_t>(ranks_)) {
    for (int rank = 0; rank < ranks_; ++rank) {
      waiting_.emplace_back(proof.schedule.active(rank).first, rank);
    }
    std::sort(waiting_.rbegin(), waiting_.rend());
  }

  void run() {
    const std::int64_t rounds = proof_.schedule.rounds();
    for (std::int64_t number = 0; number < rounds; ++number) {
      try {
        step(number);
      } catch (const Flaw& flaw) {
        throw Flaw(fmt::format("round {}: {}", number, flaw.what()));
      }
    }
    require_results();
    require_claims();
  }

 private:
  Round& round_of(int rank) { return rounds_[static_cast<std::size_t>(rank)]; }

  // Ranks participate from their first active round to their last.
  void choose_ranks(std::int64_t number) {
    std::erase_if(at_work_, [&](int rank) {
      if (proof_.schedule.active(rank).last > number) return false;
      round_of(rank).clear();
      return true;
    });
    for (; !waiting_.empty() && waiting_.back().first <= number; waiting_.pop_back()) {
      if (proof_.schedule.active(waiting_.back().second).last > number) {
        at_work_.push_back(waiting_.back().second);
      }
    }
  }

  void step(std::int64_t number) {
    choose_ranks(number);
    for (const int rank : at_work_) {
      proof_.schedule.make(rank, number, round_of(rank));
      count(rank, round_of(rank));
    }
    match();
    if (is_barrier()) {
      heard_.begin_round();
      for_each_receive(
          [this](int rank, const Message& message) { heard_.receive(rank, message.peer); });
      return;
    }
    pass();
    for (const int rank : at_work_) {
      for (const Work& work : round_of(rank).work) do_work(rank, work);
    }
  }

  bool is_barrier() const { return proof_.operation == Operation::barrier; }

  template <typename Action>
  void for_each_receive(const Action& action) {
    for (const int rank : at_work_) {
      for (const Message& message : round_of(rank).receives) action(rank, message);
    }
  }

  void count(int rank, const Round& round) {
    RankTraffic& traffic = counted_[static_cast<std::size_t>(rank)];
    if (!round.sends.empty() || !round.receives.empty()) ++traffic.rounds;
    traffic.sends += static_cast<std::int64_t>(round.sends.size());
    traffic.receives += static_cast<std::int64_t>(round.receives.size());
    for (const Message& send : round.sends) traffic.blocks_sent += send.part.blocks.count();
    for (const Message& receive : round.receives) {
      traffic.blocks_received += receive.part.blocks.count();
    }
  }

  // Returns the send from `sender` to `rank`, or null.
  const Message* send_to(int rank, int sender) {
    for (const Message& send : round_of(sender).sends) {
      if (send.peer == rank) return &send;
    }
    return nullptr;
  }

  void require_peers(int rank, const std::vector<Message>& messages, const char* verb) const {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const int peer = messages[i].peer;
      if (peer < 0 || peer >= ranks_ || peer == rank) {
        throw Flaw(fmt::format("rank {} {} rank {}", rank, verb, peer));
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (messages[j].peer == peer) {
          throw Flaw(fmt::format("rank {} {} rank {} twice in a round", rank, verb, peer));
        }
      }
    }
  }

  // Throws Flaw unless sends and receives match. If every receive has its send and there are no
  // more sends than receives, every send has its receive.
  void match() {
    std::size_t sends = 0;
    std::size_t receives = 0;
    for (const int rank : at_work_) {
      require_peers(rank, round_of(rank).sends, "sends to");
      require_peers(rank, round_of(rank).receives, "receives from");
      sends += round_of(rank).sends.size();
      receives += round_of(rank).receives.size();
    }
    for_each_receive([this](int rank, const Message& receive) {
      const Message* const send = send_to(rank, receive.peer);
      if (send == nullptr) {
        throw Flaw(
            fmt::format("rank {} waits for rank {}, which sends nothing", rank, receive.peer));
      }
      require_equal(rank, *send, receive);
    });
    if (sends != receives) throw Flaw("something is sent that nobody receives");
  }

  void require_equal(int rank, const Message& send, const Message& receive) const {
    const std::int64_t sent = send.part.blocks.count();
    const std::int64_t expected = receive.part.blocks.count();
    if (sent != expected || (sent == 0 && !is_barrier())) {
      throw Flaw(fmt::format("rank {} expects {} blocks from rank {}, which sends {}", rank,
                             expected, receive.peer, sent));
    }
    // The term of a contribution does not contain its block, so both ranks must list the same
    // blocks.
    if (reduces(proof_.operation) && !(send.part.blocks == receive.part.blocks)) {
      throw Flaw(
          fmt::format("rank {} expects other blocks than rank {} sends", rank, receive.peer));
    }
  }

  void pass() {
    for_each_receive(
        [this](int rank, const Message& receive) { memory_.take(rank, receive.part); });
    passing_.clear();
    for_each_receive([this](int rank, const Message& receive) {
      memory_.read(receive.peer, send_to(rank, receive.peer)->part, passing_);
    });
    const Term* next = passing_.data();
    for_each_receive([&](int rank, const Message& receive) {
      memory_.write(rank, receive.part, next);
      next += receive.part.blocks.count();
    });
  }

  void do_work(int rank, const Work& work) {
    passing_.clear();
    if (const Copy* const copy = std::get_if<Copy>(&work)) {
      require_copied_whole(rank, *copy);
      memory_.read(rank, copy->from, passing_);
      memory_.write(rank, copy->to, passing_.data());
      return;
    }
    const Combine& combine = std::get<Combine>(work);
    memory_.read(rank, {combine.left, combine.blocks}, passing_);
    const std::size_t count = passing_.size();
    memory_.read(rank, {combine.right, combine.blocks}, passing_);
    // Consecutive blocks usually have the same contributions.
    Term left = no_term;
    Term right = no_term;
    Term both = no_term;
    for (std::size_t i = 0; i < count; ++i) {
      if (passing_[i] != left || passing_[count + i] != right) {
        left = passing_[i];
        right = passing_[count + i];
        both = combined(rank, left, right);
      }
      passing_[i] = both;
    }
    memory_.write(rank, {combine.result, combine.blocks}, passing_.data());
  }

  void require_copied_whole(int rank, const Copy& copy) const {
    const bool same = copy.from.blocks == copy.to.blocks;
    if (same ||
        (!reduces(proof_.operation) && copy.from.blocks.count() == copy.to.blocks.count())) {
      return;
    }
    throw Flaw(fmt::format("rank {} copies {} blocks to other ones, or to {}", rank,
                           copy.from.blocks.count(), copy.to.blocks.count()));
  }

  Term combined(int rank, Term left, Term right) {
    switch (proof_.order) {
      case Order::none:
        break;
      case Order::reduction_order:
        return brackets_.combine(left, right);
      case Order::free:
        if (const auto term = contributors_.combine(left, right)) return *term;
        throw Flaw(fmt::format("rank {} joins {} and {}", rank, contributors_.text(left),
                               contributors_.text(right)));
    }
    throw Flaw(fmt::format("rank {} joins where nothing is to be joined", rank));
  }

  std::string text(Term term) const {
    if (term == no_term) return "nothing";
    if (term == term_in_flight) return "what has not come";
    if (proof_.order == Order::none) return fmt::format("block {}", term - 1);
    const std::string whole =
        proof_.order == Order::reduction_order ? brackets_.text(term) : contributors_.text(term);
    constexpr std::size_t most = 200;  // limit for readability
    return whole.size() <= most ? whole : whole.substr(0, most) + "...";
  }

  void require(int rank, std::int64_t block, Term wanted) {
    const Term found = memory_.output(rank, block);
    if (found == wanted) return;
    throw Flaw(fmt::format("at the end {} has {}, not {}", where(rank, Buffer::output, block),
                           text(found), text(wanted)));
  }

  void require_all_blocks(int rank, Term (Check::*wanted)(int, std::int64_t)) {
    for (std::int64_t block = 0; block < proof_.schedule.blocks(); ++block) {
      require(rank, block, (this->*wanted)(rank, block));
    }
  }

  Term right_block(int rank, std::int64_t block) { return promised(proof_, rank, block); }
  Term combine_of_all(int, std::int64_t) {
    return proof_.order == Order::free ? contributors_.of_all() : of_all_;
  }

  void require_results() {
    const int root = proof_.schedule.root();
    of_all_ = reduces(proof_.operation) ? brackets_.of_all() : no_term;
    if (proof_.operation == Operation::scan) prefixes_ = brackets_.prefixes(true);
    if (proof_.operation == Operation::exscan) prefixes_ = brackets_.prefixes(false);
    if (is_barrier()) heard_.require_all();
    for (int rank = 0; rank < ranks_; ++rank) {
      switch (proof_.operation) {
        case Operation::barrier:
          break;
        case Operation::allgather:
        case Operation::bcast:
        case Operation::alltoall:
          require_all_blocks(rank, &Check::right_block);
          break;
        case Operation::gather:
          if (rank == root) require_all_blocks(rank, &Check::right_block);
          break;
        case Operation::scatter:
          require(rank, rank, right_block(rank, rank));
          break;
        case Operation::allreduce:
          require_all_blocks(rank, &Check::combine_of_all);
          break;
        case Operation::reduce:
          if (rank == root) require_all_blocks(rank, &Check::combine_of_all);
          break;
        case Operation::reduce_scatter:
          require(rank, rank, combine_of_all(rank, rank));
          break;
        case Operation::scan:
          require(rank, 0, prefixes_[static_cast<std::size_t>(rank)]);
          break;
        case Operation::exscan:
          if (rank > 0) require(rank, 0, prefixes_[static_cast<std::size_t>(rank)]);
          break;
      }
    }
  }

  void require_claims() const {
    for (int rank = 0; rank < ranks_; ++rank) {
      const RankTraffic claimed = proof_.schedule.traffic(rank);
      const RankTraffic& counted = counted_[static_cast<std::size_t>(rank)];
      if (claimed == counted) continue;
      throw Flaw(fmt::format("rank {} has {}, and claims {}", rank, text(counted), text(claimed)));
    }
  }
  static std::string text(const RankTraffic& traffic) {
    return fmt::format("{} rounds, {} sends of {} blocks, {} receives of {}", traffic.rounds,
                       traffic.sends, traffic.blocks_sent, traffic.receives,
                       traffic.blocks_received);
  }

  Proof proof_;
  int ranks_;
  CheckMemory memory_;
  Brackets brackets_;
  Contributors contributors_;
  Heard heard_;
  std::vector<std::pair<std::int64_t, int>>
      waiting_;  // first active round and rank, in descending order
  std::vector<int> at_work_;
  std::vector<Round> rounds_;
  std::vector<RankTraffic> counted_;
  std::vector<Term> passing_;
  Term of_all_ = no_term;
  std::vector<Term> prefixes_;  // of scans
};

// Lists the peers, with or without the numbers of blocks, in message order.
std::vector<std::int64_t> traffic(const Schedule& schedule, int rank, std::int64_t number,
                                  bool with_blocks) {
  Round round;
  schedule.make(rank, number, round);
  std::vector<std::int64_t> traffic;
  for (const auto* messages : {&round.receives, &round.sends}) {
    traffic.push_back(static_cast<std::int64_t>(messages->size()));
    for (const Message& message : *messages) {
      traffic.push_back(message.peer);
      traffic.push_back(with_blocks ? message.part.blocks.count() : 0);
    }
  }
  return traffic;
}

std::optional<std::string> unlike(const Schedule& schedule, std::int64_t number, std::int64_t like,
                                  bool with_blocks) {
  if (like == number) return std::nullopt;
  if (like < 0 || like > number) return fmt::format("round {} is like a later one", number);
  for (int rank = 0; rank < schedule.ranks(); ++rank) {
    if (traffic(schedule, rank, number, with_blocks) ==
        traffic(schedule, rank, like, with_blocks)) {
      continue;
    }
    return fmt::format("rounds {} and {} are not alike on rank {}", like, number, rank);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> flaw_in(const Proof& proof) {
  try {
    Check(proof).run();
  } catch (const Flaw& flaw) {
    return flaw.what();
  }
  return std::nullopt;
}

std::optional<std::string> flaw_in_hints(const Schedule& schedule) {
  Round round;
  for (std::int64_t number = 0; number < schedule.rounds(); ++number) {
    if (auto flaw = unlike(schedule, number, schedule.like(number), true)) return flaw;
    if (auto flaw = unlike(schedule, number, schedule.peers_like(number), false)) return flaw;
    for (int rank = 0; rank < schedule.ranks(); ++rank) {
      const RoundSpan active = schedule.active(rank);
      if (number >= active.first && number < active.last) continue;
      schedule.make(rank, number, round);
      if (!round.empty()) {
        return fmt::format("rank {} is at work in round {}, outside its active ones", rank, number);
      }
    }
  }
  return std::nullopt;
}

}  // namespace huddle::schedules
