// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "net/check_memory.h"

#include <fmt/format.h>

namespace huddle::net {
std::string where(int rank, Buffer buffer, std::int64_t block) {
  const int number = static_cast<int>(buffer) - static_cast<int>(Buffer::scratch);
  const std::string name = buffer == Buffer::input    ? "input"
                           : buffer == Buffer::output ? "output"
                                                      : fmt::format("scratch {}", number);
  return fmt::format("block {} of the {} of rank {}", block, name, rank);
}

CheckMemory::CheckMemory(const Proof& proof)
    : proof_(proof),
      writes_once_(!reduces(proof.operation) &&
                   !(proof.in_place && proof.operation == Operation::alltoall)) {
  for (int rank = 0; rank < proof.schedule.ranks(); ++rank) {
    const Span span = output_span(rank);
    outputs_.push_back(Image::of_interval(span.first, span.count));
    const Scratch scratch = proof.schedule.scratch(rank);
    scratch_.emplace_back(static_cast<std::size_t>(scratch.buffers),
                          Image::of_scratch(scratch.blocks));
    fill_output(rank);
  }
}

void CheckMemory::fill_output(int rank) {
  const bool is_source = proof_.operation == Operation::bcast && rank == proof_.schedule.root();
  if (!is_source && is_apart(rank, Buffer::input)) return;
  Image& image = outputs_.back();
  const Span span = is_source ? output_span(rank) : input_span(rank);
  for (std::int64_t block = span.first; block < span.first + span.count; ++block) {
    image.set(block, contribution(proof_, rank, block));
  }
}

bool CheckMemory::is_apart(int rank, Buffer buffer) const {
  if (buffer != Buffer::input) return false;
  const Span in = input_span(rank);
  const Span out = output_span(rank);
  const bool fits = in.first >= out.first && in.first + in.count <= out.first + out.count;
  return !proof_.in_place || !fits;
}

CheckMemory::Span CheckMemory::input_span(int rank) const {
  switch (proof_.operation) {
    case Operation::allgather:
    case Operation::gather:
      return {rank, 1};
    case Operation::bcast:
    case Operation::barrier:
      return {};
    case Operation::scatter:
      return rank == proof_.schedule.root() ? Span{0, proof_.schedule.blocks()} : Span{};
    case Operation::allreduce:
    case Operation::reduce:
    case Operation::reduce_scatter:
    case Operation::alltoall:
    case Operation::scan:
    case Operation::exscan:
      return {0, proof_.schedule.blocks()};
  }
  return {};
}

CheckMemory::Span CheckMemory::output_span(int rank) const {
  switch (proof_.operation) {
    case Operation::reduce:
    case Operation::gather:
      return rank == proof_.schedule.root() ? Span{0, proof_.schedule.blocks()} : Span{};
    case Operation::reduce_scatter:
    case Operation::scatter:
      return {rank, 1};
    case Operation::barrier:
      return {};
    case Operation::allgather:
    case Operation::bcast:
    case Operation::allreduce:
    case Operation::alltoall:
    case Operation::scan:
    case Operation::exscan:
      return {0, proof_.schedule.blocks()};
  }
  return {};
}

Image& CheckMemory::image(int rank, Buffer buffer) {
  const auto at = static_cast<std::size_t>(rank);
  if (buffer == Buffer::input || buffer == Buffer::output) return outputs_[at];
  const auto number = static_cast<std::size_t>(buffer) - static_cast<std::size_t>(Buffer::scratch);
  if (number >= scratch_[at].size()) {
    throw Flaw(fmt::format("rank {} has no scratch {}", rank, number));
  }
  return scratch_[at][number];
}

Image& CheckMemory::image_with(int rank, Buffer buffer, std::int64_t block) {
  Image& all = image(rank, buffer);
  if (!all.has(block)) throw Flaw("there is no " + where(rank, buffer, block));
  return all;
}

void CheckMemory::read(int rank, const Part& part, std::vector<Term>& terms) {
  if (is_apart(rank, part.buffer)) {
    const Span span = input_span(rank);
    for_each_block(part.blocks, [&](std::int64_t block) {
      if (block < span.first || block >= span.first + span.count) {
        throw Flaw("there is no " + where(rank, part.buffer, block));
      }
      terms.push_back(contribution(proof_, rank, block));
    });
    return;
  }
  for_each_block(part.blocks, [&](std::int64_t block) {
    const Term term = image_with(rank, part.buffer, block).get(block);
    if (term == no_term || term == term_in_flight) {
      throw Flaw(where(rank, part.buffer, block) + (term == no_term
                                                        ? " is read, and is not there"
                                                        : " is read while a message comes in"));
    }
    terms.push_back(term);
  });
}

void CheckMemory::take(int rank, const Part& part) {
  if (is_apart(rank, part.buffer)) throw Flaw(fmt::format("rank {} receives into its input", rank));
  const bool once = writes_once_ && part.buffer == Buffer::output;
  for_each_block(part.blocks, [&](std::int64_t block) {
    Image& image = image_with(rank, part.buffer, block);
    const Term before = image.get_any(block);
    if (before == term_in_flight || (once && before != no_term)) {
      throw Flaw(where(rank, part.buffer, block) + " comes twice");
    }
    image.set(block, term_in_flight);
  });
}

void CheckMemory::write(int rank, const Part& part, const Term* terms) {
  if (is_apart(rank, part.buffer)) throw Flaw(fmt::format("rank {} writes into its input", rank));
  for_each_block(part.blocks, [&](std::int64_t block) {
    image_with(rank, part.buffer, block).set(block, *terms++);
  });
}

Term CheckMemory::output(int rank, std::int64_t block) const {
  const Image& image = outputs_[static_cast<std::size_t>(rank)];
  return image.has(block) ? image.get(block) : no_term;
}

Term contribution(const Proof& proof, int rank, std::int64_t block) {
  if (proof.operation == Operation::alltoall) {
    return static_cast<Term>(rank) * static_cast<Term>(proof.schedule.ranks()) +
           static_cast<Term>(block) + 1;
  }
  if (!reduces(proof.operation)) return static_cast<Term>(block) + 1;
  if (proof.order == Order::free) return Contributors::leaf(proof.schedule.ranks(), rank);
  return Brackets::leaf(rank);
}

}  // namespace huddle::net
