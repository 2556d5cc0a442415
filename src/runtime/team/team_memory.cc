// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/team/team_memory.h"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>

#include "common/arithmetic.h"
#include "runtime/context/errors.h"

namespace huddle::team {
namespace {

bool has_root(select::Operation operation) {
  const select::Traits& traits = select::traits_of(operation);
  return traits.in == select::Amount::all_at_root || traits.out == select::Amount::all_at_root ||
         select::gathers_at_root(operation) || select::scatters_from_root(operation);
}

std::string size_of(const CallArguments& arguments) {
  if (arguments.operation == select::Operation::barrier) return {};
  if (select::has_pairwise_sizes(arguments.operation)) return {};
  return fmt::format(" of {} bytes", arguments.bytes);
}

std::string described(const CallArguments& arguments) {
  const std::string root =
      has_root(arguments.operation) ? fmt::format(" with root {}", arguments.root) : std::string();
  return fmt::format("{}{}{}", select::traits_of(arguments.operation).name, size_of(arguments),
                     root);
}

}  // namespace

context::CallsDiffer difference_of(int rank, const CallArguments& one, int other_rank,
                                   const CallArguments& other) {
  if (other_rank < rank) return difference_of(other_rank, other, rank, one);
  return {fmt::format("ranks make collective calls that differ: rank {} calls {}, rank {} calls {}",
                      rank, described(one), other_rank, described(other)),
          one.operation == other.operation && one.root == other.root};
}

CallArguments CallRecords::arguments_of(std::uint32_t kind, std::uint64_t sizes) {
  constexpr std::uint32_t operations = 1U << operation_bits;
  static_assert(select::all_traits.size() <= operations);
  return {static_cast<select::Operation>(kind % operations), static_cast<int>(kind / operations),
          static_cast<std::size_t>(sizes >> element_bits), static_cast<std::uint16_t>(sizes)};
}

// A barrier writes no record, so its slot contains an older number. Once the owner is `kept - 1`
// calls ahead, it may overwrite the record during the read, so the record counts as lost.
std::optional<CallArguments> CallRecords::find(std::uint32_t number) const {
  const auto is_kept = [this, number](std::memory_order order) {
    return calls_.load(order) - number < kept - 1;
  };
  if (!is_kept(std::memory_order_acquire)) return std::nullopt;
  const Record& record = records_[number % kept];
  const std::uint64_t call = record.call.load(std::memory_order_acquire);
  const std::uint64_t sizes = record.sizes.load(std::memory_order_acquire);
  if (!is_kept(std::memory_order_relaxed)) return std::nullopt;
  if (call >> kind_bits != number) return CallArguments{};
  return arguments_of(static_cast<std::uint32_t>(call), sizes);
}

namespace {

// The data that a rank publishes about its new piece.
struct Offer {
  RankError rank_error;
  memory::Piece piece;
};

// Allocates a piece and initializes its flags with the first sequence number.
memory::Piece filled_piece(memory::Arena& arena, TeamMemory::Memory memory) {
  // Large pieces are aligned to pages, so that their pages are not shared and are placed on this
  // rank's NUMA node.
  const std::size_t alignment =
      memory.bytes < node::page_bytes ? memory::Arena::least_alignment : node::page_bytes;
  const memory::Piece piece = arena.allocate(std::max(memory.bytes, alignment), alignment);
  constexpr context::Sequence value = context::first_sequence;
  for (std::size_t at = 0; at + sizeof value <= memory.flags_bytes; at += sizeof value) {
    std::memcpy(arena.data(piece) + at, &value, sizeof value);
  }
  return piece;
}

// The reason why a rank has abandoned the team. `flag` is set after `why` is written.
struct LastWord {
  context::Sequence flag = context::first_sequence;
  RankError why;
};
constexpr context::Sequence given_up = context::first_sequence + 1;

std::atomic_ref<context::Sequence> flag_of(LastWord& word) { return std::atomic_ref(word.flag); }

// Layout of a rank's first piece: the memory of board_ and of start_, LastWord, CallRecords.
const std::size_t start_at = node::SmallAllgather::shared_bytes(TeamMemory::most_notice_bytes);
const std::size_t last_word_at = start_at + node::CommonStart::shared_bytes();
// The records are written at each call, so they have cache lines of their own.
const std::size_t records_at = round_up(last_word_at + sizeof(LastWord), node::false_sharing_bytes);
const std::size_t board_bytes = records_at + sizeof(CallRecords);

LastWord& last_word_of(std::byte* piece) {
  return *reinterpret_cast<LastWord*>(piece + last_word_at);
}

CallRecords& records_of(std::byte* piece) {
  return *reinterpret_cast<CallRecords*>(piece + records_at);
}

}  // namespace

// Nothing may fail after members_ is constructed, because the peers then rely on this rank.
TeamMemory::TeamMemory(Peers& peers, const Bootstrap& bootstrap, TeamSetUp& joining,
                       const std::function<void()>& prepare)
    : peers_(peers),
      members_(join(bootstrap, joining, prepare)),
      board_(most_notice_bytes, context::first_sequence),
      start_(start_at, context::first_sequence),
      context_{bootstrap.rank, bootstrap.ranks, board_memory_.data(), nullptr, nullptr} {
  for (int rank = 0; rank < ranks(); ++rank) {
    board_memory_[static_cast<std::size_t>(rank)] = members_->piece(rank);
  }
}

std::unique_ptr<Members> TeamMemory::join(const Bootstrap& bootstrap, TeamSetUp& joining,
                                          const std::function<void()>& prepare) {
  const auto bring = [&](memory::Arena& arena) {
    const auto ranks = static_cast<std::size_t>(bootstrap.ranks);
    prepare();
    board_memory_.resize(ranks);
    notices_.resize(ranks * most_notice_bytes);
    const memory::Piece piece = filled_piece(arena, {board_bytes, records_at});
    new (arena.data(piece) + records_at) CallRecords;
    return piece;
  };
  return joining.run(std::cref(bring));  // by reference because a copy would allocate memory
}

void TeamMemory::show_and_read(std::span<const std::byte> mine) {
  context::NativeContext ctx(context_, {mine.data(), notices_.data()});
  board_.run(ctx, mine.size());
}

bool TeamMemory::has_given_up(int rank) const {
  LastWord& word = last_word_of(board_memory_[static_cast<std::size_t>(rank)]);
  return flag_of(word).load(std::memory_order_acquire) == given_up;
}

// Throws PeerLost if a rank has left the team before it began a call that this rank has begun.
void TeamMemory::check_departures() {
  const std::uint32_t begun = call_records().calls();
  for (int rank = 0; rank < ranks(); ++rank) {
    // A rank that has left begins no further calls.
    if (members_->is_present(rank)) continue;
    const std::uint32_t theirs = records_of(board_memory_[static_cast<std::size_t>(rank)]).calls();
    if (static_cast<std::int32_t>(begun - theirs) <= 0) continue;
    throw context::PeerLost(
        fmt::format("rank {} has freed the team, although other ranks still make calls", rank));
  }
}

void TeamMemory::check_members() {
  members_->check();
  for (std::size_t rank = 0; rank < board_memory_.size(); ++rank) {
    if (!has_given_up(static_cast<int>(rank))) continue;
    const RankError told = RankError::of_rank(rank, last_word_of(board_memory_[rank]).why);
    throw context::PeerLost(told.text());
  }
  check_departures();  // last, because a rank that has abandoned the team may have left it, too
}

CallRecords& TeamMemory::call_records() {
  return records_of(board_memory_[static_cast<std::size_t>(rank())]);
}

void TeamMemory::check_calls() const {
  const CallRecords& own = records_of(board_memory_[static_cast<std::size_t>(rank())]);
  const std::uint32_t latest = own.calls();
  // The first difference is the cause of later ones.
  for (std::uint32_t back = CallRecords::kept; back-- > 0;) {
    const std::uint32_t number = latest - back;
    const auto mine = own.find(number);
    for (int peer = 0; mine && peer < ranks(); ++peer) {
      const auto theirs = records_of(board_memory_[static_cast<std::size_t>(peer)]).find(number);
      if (!theirs || *theirs == *mine) continue;
      throw difference_of(rank(), *mine, peer, *theirs);
    }
  }
}

void TeamMemory::await_calls(std::uint32_t number) {
  context::NativeContext ctx(context_, {});
  for (int peer = 0; peer < ranks(); ++peer) {
    ctx.wait({node::Region::shared, peer, records_at + CallRecords::calls_offset},
             context::until_reached(number));
  }
}

void TeamMemory::abandon(const RankError& why) {
  LastWord& word = last_word_of(board_memory_[static_cast<std::size_t>(rank())]);
  if (has_given_up(rank())) return;
  word.why = why;
  flag_of(word).store(given_up, std::memory_order_release);
}

std::vector<std::byte*> TeamMemory::allocate(const std::function<Memory()>& prepare) {
  Offer mine;
  std::vector<std::byte*> bases;
  mine.rank_error = RankError::of([&] {
    bases.resize(static_cast<std::size_t>(ranks()));
    mine.piece = filled_piece(peers_.arena(), prepare());
    members_->keep(mine.piece);
  });
  const std::span<const Offer> offers = gather(mine);
  const auto has_trouble = [](const Offer& offer) { return offer.rank_error.is_any(); };
  // All ranks see the same offers: if any rank has failed, no rank uses any of these pieces.
  if (std::any_of(offers.begin(), offers.end(), has_trouble)) members_->free(mine.piece);
  throw_first(offers, &Offer::rank_error);
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    bases[rank] = members_->arena_base(static_cast<int>(rank)) + offers[rank].piece.offset;
  }
  return bases;
}

}  // namespace huddle::team
