// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Collectives whose data several leaders of each node can share and that can be pipelined in
// segments, and the decision whether they do, or whether the MPI is faster.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/context/waiting.h"
#include "runtime/internode/internode_team.h"
#include "runtime/internode/messages.h"

namespace huddle::internode {
namespace {

// A segment that is sent between nodes while this rank does other work. If an exception ends the
// call, the transfer is leaked because its messages may still be in flight.
class UnderWay {
 public:
  // Keeps a reference.
  explicit UnderWay(context::Waiting& waiting) : waiting_(waiting) {}
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() {
    waiting_.set_pending_work(nullptr);
    static_cast<void>(crossing_.release());
  }

  // Starts a transfer; null: there is none. It makes progress whenever this rank waits for ranks of
  // its node.
  void begin(std::unique_ptr<InterNodeTransfer> crossing) {
    crossing_ = std::move(crossing);
    if (crossing_ == nullptr) return;
    crossing_->advance();
    waiting_.set_pending_work([this] { crossing_->advance(); });
  }
  void finish() {
    if (crossing_ == nullptr) return;
    waiting_.set_pending_work(nullptr);
    internode::finish(std::move(crossing_), waiting_);
  }

 private:
  context::Waiting& waiting_;
  std::unique_ptr<InterNodeTransfer> crossing_;
};

}  // namespace

Sharing Team::sharing_of(select::Operation operation, std::size_t bytes) {
  if (parts_.sharing) return shared_on(parts_.map, *parts_.sharing);
  if (parts_.network.node_ns_per_mib == 0) return {};
  return verdict_on(operation, bytes).sharing;
}

template <typename Before, typename Start, typename After>
void Team::in_segments(int segments, const Before& before, const Start& start, const After& after) {
  UnderWay crossing(parts_.node->waiting());
  for (int segment = 0; segment < segments; ++segment) {
    before(segment);
    crossing.finish();
    crossing.begin(start(segment));
    if (segment > 0) after(segment - 1);
  }
  crossing.finish();
  after(segments - 1);
}

// A leader reduces its slice of the contributions of its node's ranks, and then those of the nodes
// in the order of their first ranks.
void Team::allreduce_shared(const std::byte* input, std::byte* output, std::size_t count,
                            const memory::Reduction& reduction, const Sharing& sharing) {
  const std::size_t element = reduction.element_bytes;
  const int segments = static_cast<int>(std::min<std::size_t>(sharing.segments, count));
  const schedules::Sizes elements = schedules::Sizes::cut(count, 1, segments);
  const Leaders leaders(parts_.map, sharing.leaders);
  const bool is_one = leaders.count() == 1;
  const int leader = leaders.at(node_, place_);
  const auto own = [&](int segment, std::size_t unit) {
    return leaders.slice(leader, elements.bytes(segment), unit);
  };
  const auto slices = [&](int segment, std::size_t unit) {
    return leaders.slices(node_, elements.bytes(segment), unit);
  };
  const auto at = [&](int segment) { return elements.offset(segment) * element; };
  // In place, the result of one of several leaders would overwrite input that other ranks still
  // have to read. Two buffers are needed because a leader reduces the next segment while the
  // current one is sent between nodes.
  const bool is_aside = !is_one && leader >= 0 && input == output;
  const std::size_t room = own(0, element).bytes + element;  // slices may differ by one element
  MessageBuffer aside(is_aside ? 2 * room : 0);
  const auto combined = [&](int segment) {
    if (is_aside) return aside.data() + (segment % 2 == 0 ? 0 : room);
    return output + at(segment) + own(segment, element).offset;
  };
  const auto before = [&](int segment) {
    if (is_one) {
      return node_part_.reduce(input + at(segment), output + at(segment), elements.bytes(segment),
                               reduction, 0);
    }
    const std::vector<node::Block> blocks = slices(segment, 1);
    node_part_.reduce_scatter(input + at(segment), combined(segment), node::Blocks::listed(blocks),
                              reduction);
  };
  const auto start_between = [&](int segment) -> std::unique_ptr<InterNodeTransfer> {
    const std::size_t of_slice = own(segment, 1).bytes;
    if (of_slice == 0) return nullptr;
    schedules::CallData data;
    data.output.bytes = combined(segment);
    data.input.bytes = data.output.bytes;
    const Demand demand{schedules::Operation::allreduce, parts_.map.nodes(), 0, of_slice, element};
    return start({leaders, leader}, demand, data, reduction);
  };
  const auto after = [&](int segment) {
    std::byte* const all = output + at(segment);
    if (is_one) return node_part_.bcast(all, elements.bytes(segment) * element, 0);
    const std::vector<node::Block> blocks = slices(segment, element);
    node_part_.allgatherv(combined(segment), all, node::Blocks::listed(blocks));
  };
  in_segments(segments, before, start_between, after);
}

// With one leader, the root communicates for its node, and sends to other nodes first because they
// are farther away. With several leaders, the root scatters the slices to the leaders of its node
// and later broadcasts all data in its node. The root only reads its buffer.
void Team::bcast_shared(std::byte* buffer, std::size_t bytes, int root, const Sharing& sharing) {
  const int segments = static_cast<int>(std::min<std::size_t>(sharing.segments, bytes));
  const schedules::Sizes sizes = schedules::Sizes::cut(bytes, 1, segments);
  const Leaders leaders(parts_.map, sharing.leaders);
  const bool is_one = leaders.count() == 1;
  const bool is_here = is_root_here(root);
  const int speaker = speaker_for(root);
  const int leader = is_one ? (place_ == speaker ? 0 : -1) : leaders.at(node_, place_);
  const auto own = [&](int segment) { return leaders.slice(leader, sizes.bytes(segment), 1); };
  const auto slices = [&](int segment) { return leaders.slices(node_, sizes.bytes(segment), 1); };
  const auto slice = [&](int segment) {
    return buffer + sizes.offset(segment) + own(segment).offset;
  };
  const auto before = [&](int segment) {
    if (is_one || !is_here) return;
    const std::vector<node::Block> blocks = slices(segment);
    node_part_.scatterv(buffer + sizes.offset(segment), node::Blocks::listed(blocks),
                        slice(segment), own(segment).bytes, speaker);
  };
  const auto start_between = [&](int segment) -> std::unique_ptr<InterNodeTransfer> {
    const std::size_t of_slice = own(segment).bytes;
    if (of_slice == 0) return nullptr;
    schedules::CallData data;
    data.output.bytes = slice(segment);
    const Demand demand{schedules::Operation::bcast, parts_.map.nodes(), parts_.map.node_of(root),
                        of_slice, 1};
    return start({leaders, leader, is_one ? root : -1}, demand, data, {});
  };
  const auto after = [&](int segment) {
    std::byte* const all = buffer + sizes.offset(segment);
    if (is_one || is_here) return node_part_.bcast(all, sizes.bytes(segment), speaker);
    const std::vector<node::Block> blocks = slices(segment);
    node_part_.allgatherv(slice(segment), all, node::Blocks::listed(blocks));
  };
  in_segments(segments, before, start_between, after);
}

bool Team::is_mpi_faster(select::Operation operation, std::size_t bytes) {
  if (!parts_.forced.for_operation(schedule_of(operation)).empty()) return false;
  const bool is_measured = !parts_.mpi_times.points().empty();
  if (!is_measured && operation != select::Operation::alltoall) return false;
  return verdict_on(operation, bytes).is_mpi_faster;
}

void Team::note_fallback(select::Operation operation, std::size_t bytes) {
  if (lost_.is_any()) return;
  call_check_.skip();
  parts_.node->note_enclosing_call({operation, 0, bytes}, false);
}

const Team::Verdict& Team::verdict_on(select::Operation operation, std::size_t bytes) {
  const auto known = std::find_if(verdicts_.begin(), verdicts_.end(), [&](const Verdict& one) {
    return one.operation == operation && one.bytes == bytes;
  });
  if (known != verdicts_.end()) {
    std::rotate(verdicts_.begin(), known, known + 1);
    return verdicts_.front();
  }
  const Verdict verdict = judge(operation, bytes);
  if (verdicts_.size() == most_remembered) verdicts_.pop_back();
  return *verdicts_.insert(verdicts_.begin(), verdict);
}

Team::Verdict Team::judge(select::Operation operation, std::size_t bytes) {
  Verdict verdict{operation, bytes};
  const auto mpi_ns = parts_.mpi_times.ns_at(operation, bytes);
  if (mpi_ns || can_share(operation)) {
    const Prediction prediction = predict(operation, bytes, parts_.map, parts_.network,
                                          parts_.node_times, parts_.sharing, parts_.forced);
    verdict.is_mpi_faster = mpi_ns && *mpi_ns < prediction.ns();
    verdict.sharing = prediction.sharing;
  } else {
    verdict.is_mpi_faster =
        operation == select::Operation::alltoall &&
        !unmeasured_fallback_reason(operation, bytes, parts_.map, parts_.network).empty();
  }
  return verdict;
}

}  // namespace huddle::internode
