// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Plants one error into each of many schedules: the checker finds every one and describes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/check.h"

namespace huddle::schedules {
namespace {

using ::testing::HasSubstr;

// Modifies what a rank does in a round.
using Change = std::function<void(int rank, std::int64_t number, Round& round)>;

struct Lies {
  Change change = [](int, std::int64_t, Round&) {};
  std::function<void(RankTraffic& traffic)> traffic = [](RankTraffic&) {};
  std::function<void(Scratch& scratch)> scratch = [](Scratch&) {};
  std::function<std::int64_t(std::int64_t number)> like = [](std::int64_t number) {
    return number;
  };
  RoundSpan idle = {0, 0};  // claims that no rank is active in these rounds
};

class Planted : public Schedule {
 public:
  Planted(std::unique_ptr<Schedule> schedule, Lies lies)
      : Schedule(schedule->call()), schedule_(std::move(schedule)), lies_(std::move(lies)) {}

  std::int64_t blocks() const override { return schedule_->blocks(); }
  std::int64_t rounds() const override { return schedule_->rounds(); }
  std::int64_t like(std::int64_t number) const override { return lies_.like(number); }
  RoundSpan active(int rank) const override {
    const RoundSpan active = schedule_->active(rank);
    return {std::max(active.first, lies_.idle.last), active.last};
  }
  RankTraffic traffic(int rank) const override {
    RankTraffic traffic = schedule_->traffic(rank);
    lies_.traffic(traffic);
    return traffic;
  }
  Scratch scratch(int rank) const override {
    Scratch scratch = schedule_->scratch(rank);
    lies_.scratch(scratch);
    return scratch;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    schedule_->make(rank, number, round);
    lies_.change(rank, number, round);
  }

 private:
  std::unique_ptr<Schedule> schedule_;
  Lies lies_;
};

struct Case {
  std::string what;
  std::string algorithm;
  Lies lies;
  std::string found;  // expected part of the checker's message
  bool in_place = false;
};

// A call of 8 ranks, with three segments if the algorithm uses segments.
const Call call = {.ranks = 8, .segments = 3};

// Applies a change to one rank in one round.
Change at(int rank, std::int64_t number, const std::function<void(Round&)>& change) {
  return [=](int whose, std::int64_t which, Round& round) {
    if (whose == rank && which == number) change(round);
  };
}
Change both(const Change& first, const Change& second) {
  return [=](int rank, std::int64_t number, Round& round) {
    first(rank, number, round);
    second(rank, number, round);
  };
}
Change everywhere(const std::function<void(Round&)>& change) {
  return [=](int, std::int64_t, Round& round) { change(round); };
}

void shift(Message& message) {
  const Run run = *message.part.blocks.begin();
  message.part.blocks = Blocks::circular(run.first + 1, run.length, 8);
}
Combine& first_combine(Round& round) { return std::get<Combine>(round.work.front()); }

std::vector<Case> cases() {
  const std::string ring = "allgather:ring";
  const std::string doubling = "allreduce:doubling";
  std::vector<Case> cases;
  const auto plant = [&](const std::string& what, const std::string& algorithm,
                         const Change& change, const std::string& found) {
    cases.push_back({what, algorithm, {.change = change}, found});
  };

  // Errors in messages.
  plant("wrong peer of a send", ring, at(2, 1, [](Round& r) { r.sends[0].peer = 5; }),
        "which sends nothing");
  plant("wrong peer of a receive", ring, at(2, 1, [](Round& r) { r.receives[0].peer = 5; }),
        "waits for rank 5, which sends nothing");
  plant("a peer beyond the last", ring, at(2, 1, [](Round& r) { r.sends[0].peer = 8; }),
        "sends to rank 8");
  plant("a rank as its own peer", ring, at(2, 1, [](Round& r) { r.receives[0].peer = 2; }),
        "receives from rank 2");
  plant("a missing send", ring, at(2, 1, [](Round& r) { r.sends.clear(); }),
        "waits for rank 2, which sends nothing");
  plant("a missing receive", ring, at(2, 1, [](Round& r) { r.receives.clear(); }),
        "that nobody receives");
  plant("a send twice", ring, at(2, 1, [](Round& r) { r.sends.push_back(r.sends[0]); }),
        "sends to rank 3 twice");
  plant("a message left out by both", ring,
        both(at(2, 6, [](Round& r) { r.sends.clear(); }),
             at(3, 6, [](Round& r) { r.receives.clear(); })),
        "has nothing, not block");
  plant("a message too long", "allgather:doubling",
        at(2, 1, [](Round& r) { r.sends[0].part.blocks = Blocks::interval(2, 3); }),
        "expects 2 blocks from rank 2, which sends 3");
  plant(
      "messages in the wrong round", ring,
      [](int, std::int64_t number, Round& r) {
        if (number == 1) r.sends[0].part.blocks = Blocks::interval(0, 1);
      },
      "is read, and is not there");
  plant(
      "a barrier without its second round", "barrier:dissemination",
      [](int, std::int64_t number, Round& r) {
        if (number == 1) r.clear();
      },
      "leaves the barrier before it has heard from");

  // Errors in blocks.
  plant("block off by one, sent", ring, at(2, 1, [](Round& r) { shift(r.sends[0]); }), "has block");
  plant("block off by one, received", ring, at(2, 1, [](Round& r) { shift(r.receives[0]); }),
        "comes twice");
  plant("block off by one, both", "allgather:neighbor",
        both(at(2, 2, [](Round& r) { shift(r.sends[0]); }),
             at(3, 2, [](Round& r) { shift(r.receives[0]); })),
        "comes twice");
  plant("another block of a reduction, sent", "allreduce:ring",
        at(2, 0, [](Round& r) { shift(r.sends[0]); }), "expects other blocks");
  plant("a block beyond the last", ring,
        at(2, 1, [](Round& r) { r.receives[0].part.blocks = Blocks::interval(8, 1); }),
        "there is no block 8");
  plant("a segment too early", "bcast:chain",
        both(at(1, 1, [](Round& r) { r.sends[0].part.blocks = Blocks::interval(1, 1); }),
             at(2, 1, [](Round& r) { r.receives[0].part.blocks = Blocks::interval(1, 1); })),
        "is read while a message comes in");

  plant("blocks of another digit", "alltoall:bruck",
        at(2, 1, [](Round& r) { r.sends[0].part.blocks = std::get<Copy>(r.work[0]).from.blocks; }),
        "has block");
  plant("blocks in another order", "alltoall:bruck",
        at(2, 1,
           [](Round& r) {
             const Blocks& blocks = r.receives[0].part.blocks;
             Blocks turned;
             for (const Run* run = blocks.end(); run != blocks.begin(); --run) turned.add(run[-1]);
             r.receives[0].part.blocks = turned;
           }),
        "has block");
  plant("given back to who had it", "bcast:scatter-doubling",
        both(at(0, 3, [](Round& r) { r.receive(1, Buffer::output, Blocks::interval(1, 1)); }),
             at(1, 3, [](Round& r) { r.send(0, Buffer::output, Blocks::interval(1, 1)); })),
        "block 1 of the output of rank 0 comes twice");
  plant("a half exchanged before it is whole", "bcast:scatter-doubling",
        both(at(1, 3, [](Round& r) { r.receives.clear(); }),
             at(0, 3, [](Round& r) { r.sends.clear(); })),
        "is read, and is not there");

  // Errors in local work.
  plant("own block not copied", ring, at(2, 0, [](Round& r) { r.work.clear(); }),
        "block 2 of the output of rank 2 has nothing");
  plant("own block copied elsewhere", "allgather:bruck",
        at(2, 0, [](Round& r) { std::get<Copy>(r.work[0]).from.blocks = Blocks::interval(5, 1); }),
        "there is no block 5 of the input of rank 2");
  plant("a copy shorter than its source", "alltoall:bruck",
        at(2, 1, [](Round& r) { std::get<Copy>(r.work[0]).to.blocks = Blocks::interval(5, 1); }),
        "rank 2 copies 4 blocks to other ones, or to 1");
  plant("a joined block copied to another's place", "reduce_scatter:halving",
        at(2, 2, [](Round& r) { std::get<Copy>(r.work[1]).to.blocks = Blocks::interval(3, 1); }),
        "rank 2 copies 1 blocks to other ones");
  plant("what stays not copied", "alltoall:bruck", at(2, 1, [](Round& r) { r.work.clear(); }),
        "is read, and is not there");
  plant("operands swapped", doubling,
        at(2, 1, [](Round& r) { std::swap(first_combine(r).left, first_combine(r).right); }),
        "has ((");
  plant("a join left out", doubling, at(2, 1, [](Round& r) { r.work.clear(); }), "has ((");
  plant("a contribution joined twice", "allreduce:ring",
        at(2, 1,
           [](Round& r) {
             r.work.push_back(r.work[0]);
             first_combine(r).result = Buffer::output;
             std::get<Combine>(r.work[1]).left = Buffer::output;
           }),
        "joins");
  plant(
      "other brackets", doubling,
      [](int rank, std::int64_t number, Round& r) {  // the farthest first
        const int seat_bit = 1 << (2 - number);
        const int peer = rank ^ seat_bit;
        r.receives[0].peer = r.sends[0].peer = peer;
        const Buffer own = number == 0 ? Buffer::input : Buffer::output;
        first_combine(r).left = peer < rank ? scratch(0) : own;
        first_combine(r).right = peer < rank ? own : scratch(0);
      },
      "has (((0 4)");

  // Errors in places.
  plant("received where it is sent from", "allreduce:halving",
        at(2, 1,
           [](Round& r) {
             r.receives[0].part.buffer = Buffer::output;
             r.receives[0].part.blocks = r.sends[0].part.blocks;
           }),
        "expects other blocks");
  plant("received where others are sent from", "alltoall:bruck",
        at(2, 1, [](Round& r) { r.receives[0].part.buffer = r.sends[0].part.buffer; }),
        "is read while a message comes in");
  plant("received into what is being sent", "allreduce:ring",
        at(2, 3, [](Round& r) { r.sends[0].part.buffer = scratch(0); }), "scratch 0 of rank 2");
  plant(
      "two messages into one place", "allreduce:slices",
      [](int, std::int64_t number, Round& r) {
        if (number < 7) r.receives[0].part.buffer = scratch(1);
      },
      "is read, and is not there");
  plant("received into the input", ring,
        at(2, 1, [](Round& r) { r.receives[0].part.buffer = Buffer::input; }),
        "receives into its input");
  plant("scratch that nobody asked for", doubling,
        everywhere([](Round& r) { r.receives[0].part.buffer = scratch(1); }), "has no scratch 1");
  cases.push_back({"scratch too small",
                   "allreduce:halving",
                   {.scratch = [](Scratch& scratch) { scratch.blocks = 2; }},
                   "there is no block 2 of the scratch 0"});
  cases.push_back({"input read after it was overwritten",
                   "allreduce:ring",
                   {.change = everywhere([](Round& r) {
                      if (r.work.empty()) return;
                      r.receives[0].part.buffer = Buffer::output;
                      first_combine(r).left = Buffer::output;
                    })},
                   "joins",
                   true});

  // Errors in claims.
  cases.push_back(
      {"a round too many", ring, {.traffic = [](RankTraffic& c) { ++c.rounds; }}, "claims"});
  cases.push_back(
      {"a message too few", ring, {.traffic = [](RankTraffic& c) { --c.sends; }}, "claims"});
  cases.push_back({"a block too few",
                   ring,
                   {.traffic = [](RankTraffic& c) { --c.blocks_received; }},
                   "claims"});
  cases.push_back(
      {"idle in a round with messages", ring, {.idle = {0, 1}}, "is read, and is not there"});
  return cases;
}

TEST(Planted, AllErrorsAreFound) {
  for (const Case& planted : cases()) {
    const Algorithm& algorithm = algorithm_named(planted.algorithm);
    ASSERT_EQ(flaw_in({*make_schedule(algorithm, call), algorithm.operation, algorithm.order,
                       planted.in_place}),
              std::nullopt);
    const Planted schedule(make_schedule(algorithm, call), planted.lies);
    const auto flaw = flaw_in({schedule, algorithm.operation, algorithm.order, planted.in_place});
    EXPECT_THAT(flaw.value_or("nothing"), HasSubstr(planted.found)) << planted.what;
  }
}

// The cases that are wrong in place only pass the check out of place.
TEST(Planted, InPlaceErrorsPassOutOfPlace) {
  for (const Case& planted : cases()) {
    if (!planted.in_place) continue;
    const Algorithm& algorithm = algorithm_named(planted.algorithm);
    const Planted schedule(make_schedule(algorithm, call), planted.lies);
    EXPECT_EQ(flaw_in({schedule, algorithm.operation, algorithm.order, false}), std::nullopt)
        << planted.what;
  }
}

TEST(Planted, WrongHintsAreFound) {
  const Algorithm& algorithm = algorithm_named("bcast:chain");
  Lies alike;
  alike.like = [](std::int64_t) { return 0; };
  EXPECT_THAT(flaw_in_hints(Planted(make_schedule(algorithm, call), alike)).value_or("nothing"),
              HasSubstr("are not alike"));
  Lies idle;
  idle.idle = {0, 4};
  EXPECT_THAT(flaw_in_hints(Planted(make_schedule(algorithm, call), idle)).value_or("nothing"),
              HasSubstr("outside its active ones"));
}

}  // namespace
}  // namespace huddle::schedules
