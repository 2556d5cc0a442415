// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/schedules/check_memory.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "runtime/schedules/reduction_tree.h"

namespace huddle::schedules {
namespace {

// Terms from here on are indices into a list. Smaller terms encode cyclic intervals of ranks.
constexpr Term first_listed = Term{1} << 31;

}  // namespace

Brackets::Brackets(int ranks)
    : ranks_(ranks),
      parts_(static_cast<std::size_t>(ranks) + 1),
      combined_with_(static_cast<std::size_t>(ranks) + 1) {}

Term Brackets::combine(Term left, Term right) {
  for (const Combined& combined : combined_with_[left]) {
    if (combined.right == right) return combined.term;
  }
  const auto term = static_cast<Term>(parts_.size());
  parts_.emplace_back(left, right);
  combined_with_.emplace_back();
  combined_with_[left].push_back({right, term});
  return term;
}

Term Brackets::of_all() {
  return associated<Term>(ranks_, leaf,
                          [this](Term left, Term right) { return combine(left, right); });
}

std::vector<Term> Brackets::prefixes(bool inclusive) {
  return associated_prefixes<Term>(ranks_, inclusive, no_term, leaf,
                                   [this](Term left, Term right) { return combine(left, right); });
}

std::string Brackets::text(Term term) const {
  if (term == no_term) return "nothing";
  const auto& [left, right] = parts_[term];
  if (left == no_term) return std::to_string(term - 1);
  return fmt::format("({} {})", text(left), text(right));
}

Term Contributors::in_a_row(int first, int count) const {
  const int begin = count == ranks_ ? 0 : first;
  return static_cast<Term>(begin) * static_cast<Term>(ranks_ + 1) + static_cast<Term>(count);
}

std::optional<Term> Contributors::combine(Term left, Term right) {
  if (left < first_listed && right < first_listed) {
    const auto size = static_cast<Term>(ranks_) + 1;
    const int first[] = {static_cast<int>(left / size), static_cast<int>(right / size)};
    const int count[] = {static_cast<int>(left % size), static_cast<int>(right % size)};
    if (count[0] + count[1] <= ranks_) {
      for (const int a : {0, 1}) {
        if ((first[a] + count[a]) % ranks_ == first[1 - a]) {
          return in_a_row(first[a], count[0] + count[1]);
        }
      }
    }
  }
  Intervals both;
  const Intervals lefts = intervals(left);
  const Intervals rights = intervals(right);
  std::merge(lefts.begin(), lefts.end(), rights.begin(), rights.end(), std::back_inserter(both));
  Intervals sum;
  for (const auto& [first, last] : both) {
    if (!sum.empty() && first <= sum.back().second) return std::nullopt;
    if (!sum.empty() && first == sum.back().second + 1) {
      sum.back().second = last;
    } else {
      sum.emplace_back(first, last);
    }
  }
  return number_of(sum);
}

Contributors::Intervals Contributors::intervals(Term term) const {
  if (term >= first_listed) return others_[term - first_listed];
  const auto size = static_cast<Term>(ranks_) + 1;
  const int first = static_cast<int>(term / size);
  const int end = first + static_cast<int>(term % size);
  if (end <= ranks_) return {{first, end - 1}};
  return {{0, end - ranks_ - 1}, {first, ranks_ - 1}};
}

Term Contributors::number_of(const Intervals& intervals) {
  const auto [first, last] = intervals.front();
  if (intervals.size() == 1) return in_a_row(first, last - first + 1);
  const auto [second, end] = intervals.back();
  if (intervals.size() == 2 && first == 0 && end == ranks_ - 1) {
    return in_a_row(second, last + 1 + ranks_ - second);
  }
  const auto [at, is_new] =
      numbers_.try_emplace(intervals, first_listed + static_cast<Term>(others_.size()));
  if (is_new) others_.push_back(intervals);
  return at->second;
}

std::string Contributors::text(Term term) const {
  if (term == no_term) return "nothing";
  std::string text;
  for (const auto& [first, last] : intervals(term)) {
    if (!text.empty()) text += ' ';
    text += first == last ? std::to_string(first) : fmt::format("{}..{}", first, last);
  }
  return text;
}

std::optional<std::int64_t> Image::missing(std::int64_t first, std::int64_t count) const {
  if (first < first_) return first;
  const std::int64_t begin = is_scratch_ ? first : first_;
  const std::int64_t end = begin + static_cast<std::int64_t>(terms_.size());
  return first + count > end ? std::optional(std::max(first, end)) : std::nullopt;
}

Term Image::get(std::int64_t block) const {
  const std::size_t at = place(block);
  return is_scratch_ && owners_[at] != block ? no_term : terms_[at];
}

void Image::read(std::int64_t first, std::int64_t count, std::vector<Term>& terms) const {
  for_each_piece(first, count, [&](std::int64_t block, std::size_t at, std::int64_t many) {
    const auto begin = terms_.begin() + static_cast<std::ptrdiff_t>(at);
    terms.insert(terms.end(), begin, begin + many);
    if (!is_scratch_) return;
    for (std::int64_t i = 0; i < many; ++i) {
      if (owners_[at + static_cast<std::size_t>(i)] != block + i) {
        terms[terms.size() - static_cast<std::size_t>(many - i)] = no_term;
      }
    }
  });
}

void Image::write(std::int64_t first, std::int64_t count, const Term* terms) {
  for_each_piece(first, count, [&](std::int64_t block, std::size_t at, std::int64_t many) {
    std::copy_n(terms + (block - first), many, terms_.begin() + static_cast<std::ptrdiff_t>(at));
    own(block, at, many);
  });
}

void Image::fill(std::int64_t first, std::int64_t count, Term term) {
  for_each_piece(first, count, [&](std::int64_t block, std::size_t at, std::int64_t many) {
    std::fill_n(terms_.begin() + static_cast<std::ptrdiff_t>(at), many, term);
    own(block, at, many);
  });
}

void Image::own(std::int64_t block, std::size_t at, std::int64_t many) {
  if (!is_scratch_) return;
  const auto begin = owners_.begin() + static_cast<std::ptrdiff_t>(at);
  std::iota(begin, begin + many, block);
}

std::string where(int rank, Buffer buffer, std::int64_t block) {
  const int number = static_cast<int>(buffer) - static_cast<int>(Buffer::scratch);
  const std::string name = buffer == Buffer::input    ? "input"
                           : buffer == Buffer::output ? "output"
                                                      : fmt::format("scratch {}", number);
  return fmt::format("block {} of the {} of rank {}", block, name, rank);
}

CheckMemory::CheckMemory(const Proof& proof) : proof_(proof) {
  for (int rank = 0; rank < proof.schedule.ranks(); ++rank) {
    const BlockSpan span = output_span(rank);
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
  const BlockSpan span = is_source ? output_span(rank) : input_span(rank);
  for (std::int64_t block = span.first; block < span.first + span.count; ++block) {
    image.fill(block, 1, contribution(proof_, rank, block));
  }
}

bool CheckMemory::is_apart(int rank, Buffer buffer) const {
  if (buffer != Buffer::input) return false;
  const BlockSpan in = input_span(rank);
  const BlockSpan out = output_span(rank);
  const bool fits = in.first >= out.first && in.first + in.count <= out.first + out.count;
  return !proof_.in_place || !fits;
}

BlockSpan CheckMemory::input_span(int rank) const {
  switch (proof_.operation) {
    case Operation::allgather:
    case Operation::gather:
      return proof_.schedule.own_blocks(rank);
    case Operation::bcast:
    case Operation::barrier:
      return {};
    case Operation::scatter:
      return rank == proof_.schedule.root() ? BlockSpan{0, proof_.schedule.blocks()} : BlockSpan{};
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

BlockSpan CheckMemory::output_span(int rank) const {
  switch (proof_.operation) {
    case Operation::reduce:
    case Operation::gather:
      return rank == proof_.schedule.root() ? BlockSpan{0, proof_.schedule.blocks()} : BlockSpan{};
    case Operation::reduce_scatter:
    case Operation::scatter:
      return proof_.schedule.own_blocks(rank);
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

Image& CheckMemory::image_with(int rank, Buffer buffer, std::int64_t first, std::int64_t count) {
  Image& all = image(rank, buffer);
  if (const auto missing = all.missing(first, count)) {
    throw Flaw("there is no " + where(rank, buffer, *missing));
  }
  return all;
}

void CheckMemory::read(int rank, const Part& part, std::vector<Term>& terms) {
  if (is_apart(rank, part.buffer)) {
    read_input(rank, part.blocks, terms);
    return;
  }
  for_each_interval(part.blocks, [&](std::int64_t first, std::int64_t count) {
    const std::size_t before = terms.size();
    image_with(rank, part.buffer, first, count).read(first, count, terms);
    for (std::size_t i = before; i < terms.size(); ++i) {
      if (terms[i] != no_term && terms[i] != term_in_flight) continue;
      const std::int64_t block = first + static_cast<std::int64_t>(i - before);
      throw Flaw(where(rank, part.buffer, block) + (terms[i] == no_term
                                                        ? " is read, and is not there"
                                                        : " is read while a message comes in"));
    }
  });
}

void CheckMemory::read_input(int rank, const Blocks& blocks, std::vector<Term>& terms) const {
  const BlockSpan span = input_span(rank);
  for_each_block(blocks, [&](std::int64_t block) {
    if (block < span.first || block >= span.first + span.count) {
      throw Flaw("there is no " + where(rank, Buffer::input, block));
    }
    terms.push_back(contribution(proof_, rank, block));
  });
}

void CheckMemory::take(int rank, const Part& part) {
  if (is_apart(rank, part.buffer)) throw Flaw(fmt::format("rank {} receives into its input", rank));
  // In a reduction, the output may be received into several times before it contains the result.
  const bool once = !reduces(proof_.operation) && part.buffer == Buffer::output;
  for_each_interval(part.blocks, [&](std::int64_t first, std::int64_t count) {
    Image& image = image_with(rank, part.buffer, first, count);
    image.for_each(first, count, [&](std::int64_t block, Term before) {
      if (before == term_in_flight || (once && before == promised(proof_, rank, block))) {
        throw Flaw(where(rank, part.buffer, block) + " comes twice");
      }
    });
    image.fill(first, count, term_in_flight);
  });
}

void CheckMemory::write(int rank, const Part& part, const Term* terms) {
  if (is_apart(rank, part.buffer)) throw Flaw(fmt::format("rank {} writes into its input", rank));
  for_each_interval(part.blocks, [&](std::int64_t first, std::int64_t count) {
    image_with(rank, part.buffer, first, count).write(first, count, terms);
    terms += count;
  });
}

Term CheckMemory::output(int rank, std::int64_t block) const {
  const Image& image = outputs_[static_cast<std::size_t>(rank)];
  return image.missing(block, 1) ? no_term : image.get(block);
}

Term promised(const Proof& proof, int rank, std::int64_t block) {
  return proof.operation == Operation::alltoall ? contribution(proof, static_cast<int>(block), rank)
                                                : contribution(proof, rank, block);
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

}  // namespace huddle::schedules
