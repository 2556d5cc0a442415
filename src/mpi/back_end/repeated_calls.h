// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Remembers what huddle did for the latest calls of a communicator. Programs repeat calls with the
// same arguments except for the buffers, and the inspection of the arguments of a small call takes
// longer than the transfer of its data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include "mpi/back_end/underlying_mpi.h"
#include "runtime/memory/reduction.h"
#include "runtime/select/operation.h"
#include "runtime/team/tuner.h"

namespace huddle::mpi {

// Returns an argument as a number: an address, a handle or a count.
template <class Argument>
std::uint64_t number_from(Argument argument) {
  // NOLINTBEGIN(bugprone-sizeof-expression): the argument may be a handle that is a pointer
  static_assert(sizeof argument <= sizeof(std::uint64_t));
  std::uint64_t number = 0;
  std::memcpy(&number, &argument, sizeof argument);
  // NOLINTEND(bugprone-sizeof-expression)
  return number;
}

// The arguments of a call, except for the communicator.
struct RepeatableArguments {
  // The buffer arguments, as numbers: some are not significant on this rank. 0 if there is none.
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  // The operation, the other arguments, and what is special about the buffers. Equal keys mean
  // equal calls on different buffers.
  std::array<std::uint64_t, 6> key{};
};

template <class... Others>
RepeatableArguments repeatable(select::Operation operation, const void* input, const void* output,
                               Others... others) {
  static_assert(sizeof...(others) < std::tuple_size_v<decltype(RepeatableArguments::key)>);
  const auto kind_of = [](const void* buffer) -> std::uint64_t {
    return (buffer == nullptr ? 1U : 0U) | (buffer == in_place() ? 2U : 0U);
  };
  return {number_from(input),
          number_from(output),
          {static_cast<std::uint64_t>(operation) << 4U | kind_of(input) << 2U | kind_of(output),
           number_from(others)...}};
}

class RepeatedCalls {
 public:
  // A call that the team has run with the program's own buffers.
  struct Known {
    team::TunedCall tuned;
    select::Call call;
  };

  // Returns null if there is no memory.
  static std::unique_ptr<RepeatedCalls> made() {
    return std::unique_ptr<RepeatedCalls>(new (std::nothrow) RepeatedCalls);
  }

  // Returns the call with these arguments if it is known, or null. `freed` is the number of
  // datatypes that have been freed so far, because their handles may be reused.
  const Known* find(const RepeatableArguments& arguments, std::uint64_t freed) {
    Entry& entry = entries_[place_of(arguments)];
    if (!entry.is_known || entry.freed != freed ||
        !have_equal_keys(entry.key, arguments.key, Words())) {
      return nullptr;
    }
    // Buffers that overlap may be an error, or in place.
    if (do_overlap(arguments, entry.span)) return nullptr;
    entry.known.call.input = entry.input.in(arguments);
    entry.known.call.output = entry.output.in(arguments);
    return &entry.known;
  }
  // Returns whether note() is worth its time: only calls that are repeated are noted, so that calls
  // whose arguments always differ cost little.
  bool is_repeated(const RepeatableArguments& arguments, std::uint64_t freed) {
    Entry& entry = entries_[place_of(arguments)];
    if (have_equal_keys(entry.key, arguments.key, Words()) && entry.freed == freed) return true;
    entry.key = arguments.key;
    entry.freed = freed;
    entry.is_known = false;
    return false;
  }
  // Notes a call and copies its reduction. `span` is the size of the larger buffer. Does nothing if
  // the buffers overlap.
  // Requires: is_repeated() has returned true, and the call's buffers begin in the arguments.
  void note(const RepeatableArguments& arguments, std::size_t span, const Known& known) {
    Entry& entry = entries_[place_of(arguments)];
    // If an argument is null or MPI_IN_PLACE, there is only one buffer.
    const bool has_two_buffers = (arguments.key[0] & 0xfU) == 0;
    entry.span = has_two_buffers ? span : 0;
    if (do_overlap(arguments, entry.span)) return;
    entry.input = Origin::of(number_from(known.call.input), arguments);
    entry.output = Origin::of(number_from(known.call.output), arguments);
    entry.known = known;
    if (known.call.reduction != nullptr) {
      entry.reduction = *known.call.reduction;
      entry.known.call.reduction = &entry.reduction;
    }
    entry.is_known = true;
  }

 private:
  // Computes a buffer of the team's call from the buffer arguments.
  struct Origin {
    std::uint64_t input_mask = 0;
    std::uint64_t output_mask = 0;
    std::uint64_t offset = 0;

    static Origin of(std::uint64_t address, const RepeatableArguments& arguments) {
      constexpr std::uint64_t all = ~std::uint64_t{0};
      if (address == 0) return {};
      const std::uint64_t from_input = address - arguments.input;
      const std::uint64_t from_output = address - arguments.output;
      // An argument that is null, MPI_IN_PLACE or not significant is farther away.
      return from_input < from_output ? Origin{all, 0, from_input} : Origin{0, all, from_output};
    }
    void* in(const RepeatableArguments& arguments) const {
      const std::uint64_t address =
          (arguments.input & input_mask) + (arguments.output & output_mask) + offset;
      void* pointer = nullptr;
      std::memcpy(&pointer, &address, sizeof pointer);
      return pointer;
    }
  };
  struct Entry {
    std::array<std::uint64_t, 6> key{};
    std::uint64_t span = 0;
    std::uint64_t freed = 0;
    Origin input;
    Origin output;
    bool is_known = false;
    Known known;
    memory::Reduction reduction;
  };

  // These functions have no loops, so that a key stays in registers. Loops would be vectorized, and
  // a vector that is loaded right after its elements were stored is loaded late.
  using Words = std::make_index_sequence<std::tuple_size_v<decltype(RepeatableArguments::key)>>;
  template <std::size_t... word>
  static std::uint64_t sum(const RepeatableArguments& arguments,
                           std::index_sequence<word...> /*words*/) {
    return (arguments.key[word] + ...);
  }
  template <class Key, std::size_t... word>
  static bool have_equal_keys(const Key& one, const Key& other,
                              std::index_sequence<word...> /*words*/) {
    return ((one[word] ^ other[word]) | ...) == 0;
  }
  static std::size_t place_of(const RepeatableArguments& arguments) {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15U;
    return sum(arguments, Words()) * spread >> (64U - place_bits);
  }
  // Returns whether the arguments are less than `span` bytes apart.
  static bool do_overlap(const RepeatableArguments& arguments, std::uint64_t span) {
    return arguments.input - arguments.output + span < 2 * span;
  }

  static constexpr unsigned place_bits = 5;
  std::array<Entry, std::size_t{1} << place_bits> entries_{};
};

}  // namespace huddle::mpi
