// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ring: a block travels once round and everybody joins its own contribution, another rank the
// first for each block; then the joined blocks travel once more. The order of joins differs from
// block to block, so it is for operators whose result no order changes.
#include "runtime/schedules/allreduce.h"

namespace huddle::net {
namespace {

class AllreduceRing : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : 2 * others(); }
  std::int64_t like(std::int64_t) const override { return 0; }
  Scratch scratch(int) const override { return ranks() == 1 ? Scratch{} : Scratch{1, 1}; }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(2 * others());
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (ranks() == 1) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(0, 1));
      return;
    }
    // Blocks come in descending order; from round p - 1 on, which begins with its own, joined.
    const auto block = [&](std::int64_t before) {
      return Blocks::interval(at_distance(rank, -before), 1);
    };
    const bool joins = number < others();
    const Blocks coming = block(number + 2);
    const Blocks going = block(number + 1);
    round.receive(at_distance(rank, -1), joins ? net::scratch(0) : Buffer::output, coming);
    round.send(at_distance(rank, 1), number == 0 ? Buffer::input : Buffer::output, going);
    if (joins) round.join(net::scratch(0), Buffer::input, Buffer::output, coming);
  }

 private:
  std::int64_t others() const { return ranks() - 1; }
};

}  // namespace

std::unique_ptr<Schedule> allreduce_ring(const Call& call) {
  return std::make_unique<AllreduceRing>(call);
}

}  // namespace huddle::net
