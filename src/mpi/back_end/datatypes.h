// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What huddle has to know of a datatype and of an operator, told by their handles.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "mpi/abi/elements.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/memory/reduction.h"

namespace huddle::mpi {

struct TypeFacts {
  bool is_type = false;   // not null, and committed
  std::size_t bytes = 0;  // of data
  Aint extent = 0;        // from one element to the next
  Aint first_byte = 0;    // of the data, from the element's address
  std::size_t span = 0;   // from the first byte of data to the last
  bool dense = false;     // elements in a row are all data, in the order in which MPI sends it
  const Element* element = nullptr;    // of types that the MPI has by itself only
  std::optional<memory::Type> number;  // what huddle reduces it as; of these only
};

// What is known of a null datatype, and of all that no call may be made with.
inline constexpr TypeFacts no_type;

// Of a long double of x86; what is behind them is padding.
inline constexpr std::size_t long_double_value_bytes = 10;

class Operators {
 public:
  struct Named {
    Op handle{};
    std::string_view name;
    std::optional<memory::Operator> reduction;  // what it does, where it is for reductions
    std::size_t number = 0;                     // among those of the ABI
  };

  explicit Operators(Find find);

  bool is_null(Op op) const { return op == null_; }
  // Null where the program has made it, not the MPI.
  const Named* find(Op op) const;
  // pre: one of those for reductions.
  Op named(std::string_view name) const;
  // For people.
  std::string_view name(Op op) const;

 private:
  Op null_;
  std::array<Named, operators.size()> named_;
};

// By which operators the MPI joins elements of one type, as far as it has been asked. For several
// threads.
class Answers {
 public:
  // Nothing: it has not been asked.
  std::optional<bool> of(const Operators::Named& op) const {
    if ((asked_.load(std::memory_order_acquire) & bit(op)) == 0) return std::nullopt;
    return (joined_.load(std::memory_order_relaxed) & bit(op)) != 0;
  }
  void note(const Operators::Named& op, bool is_joined) {
    if (is_joined) joined_.fetch_or(bit(op), std::memory_order_relaxed);
    asked_.fetch_or(bit(op), std::memory_order_release);
  }

 private:
  static_assert(operators.size() <= 32);
  static std::uint32_t bit(const Operators::Named& op) { return std::uint32_t{1} << op.number; }

  std::atomic<std::uint32_t> asked_{0};
  std::atomic<std::uint32_t> joined_{0};
};

class Types {
 public:
  Types(const UnderlyingMpi& real, Find find);

  // Where MPI has a world: from here on types can be tried, and until there all are taken to be
  // committed; and before it goes.
  void begin(Comm self);
  void end();

  // The MPI has found fault with a type that is tried.
  void note_refusal() const { refused_ = true; }

  // Datatypes are asked about once. What is known lies where it is as long as the type lives, so
  // that calls need not copy it. pre: a datatype, not null; MPI is initialized.
  const TypeFacts& facts(Datatype type) const;
  bool is_null(Datatype type) const { return type == null_; }
  // How many types of which something was known have been freed: as long as it stays, no handle is
  // another type's than before, and what is known lies where it did.
  std::uint64_t freed() const { return freed_.load(std::memory_order_acquire); }
  // A predefined datatype by its MPI name. pre: every MPI has it.
  Datatype named(std::string_view name) const;
  // Whether the MPI joins its elements by an operator of its own. It is asked once, in a
  // communicator of this rank alone, and is the same MPI on all ranks. pre: a type that the MPI has
  // by itself; this rank is in `comm`.
  bool joins(Datatype type, const TypeFacts& facts, const Operators::Named& op, Comm comm) const;
  // Whether there are numbers in it with bytes that are not of their value, and which an MPI sends
  // along or leaves as they were, as it comes. pre: as of facts().
  bool holds_padding(Datatype type) const;

 private:
  struct Named {
    Datatype handle{};
    const Element* element = nullptr;
    TypeFacts facts;  // written once, before they are known
    std::atomic<bool> known{false};
    Answers answers;
  };
  // Of a derived datatype: what lies behind its attribute.
  struct Kept {
    TypeFacts facts;
    Answers answers;
  };
  // How a type was made, and by how many of what.
  struct Envelope {
    int combiner = combiner_named;
    Count integers = 0;
    Count addresses = 0;
    Count counts = 0;
    Count types = 0;
  };

  Named* find_named(Datatype type) const;
  const TypeFacts& named_facts(Named& named) const;
  Kept* remembered(Datatype type) const;
  const TypeFacts& derived_facts(Datatype type) const;
  bool is_committed(Datatype type) const;
  Answers* answers_of(Datatype type) const;
  bool tell_of_errors(Comm comm) const;
  bool try_to_join(Datatype type, const TypeFacts& facts, Op op, Comm alone) const;
  static int forget(Datatype type, int keyval, void* value, void* extra);
  TypeFacts ask(Datatype type) const;
  bool is_dense(Datatype type, const TypeFacts& facts) const;
  Envelope envelope(Datatype type) const;
  std::vector<Datatype> contents(Datatype type, const Envelope& envelope) const;
  void give_back(Datatype inner) const;

  const UnderlyingMpi& real_;
  Comm null_comm_;
  Datatype null_;
  // What is known of a derived datatype is an attribute of it, which goes with it: handles are used
  // again.
  mutable std::mutex mutex_;  // guards what is made, and trials
  // For trials. Nobody but us has it, and its errors end nothing.
  Comm trial_;
  mutable bool refused_ = false;
  mutable std::atomic<int> keyval_{keyval_invalid};
  mutable std::atomic<std::uint64_t> freed_{0};
  // By a hash of the handle; an open table, never full.
  mutable std::array<Named, 256> named_;
};

// What was found out at a communicator's latest call, for the next one: programs make the same call
// again and again.

// For one thread at a time.
class LatestFacts {
 public:
  // Of this datatype; null: it is another than the latest, or may be, since handles are used again.
  const TypeFacts* of(Datatype type, const Types& types) const {
    const bool is_same = facts_ != nullptr && type_ == type && freed_ == types.freed();
    return is_same ? facts_ : nullptr;
  }
  // freed: types.freed() from before the facts were asked for.
  void note(Datatype type, const TypeFacts& facts, std::uint64_t freed) {
    type_ = type;
    facts_ = &facts;
    freed_ = freed;
  }

  // How these are joined; null: they are others than the latest. Only what huddle's own kernels
  // join is noted: datatypes and operators that the MPI has by itself, which nobody can free.
  const memory::Reduction* reduction(Datatype type, Op op) const {
    const bool is_same = reduction_.combine != nullptr && reduced_type_ == type && op_ == op;
    return is_same ? &reduction_ : nullptr;
  }
  void note(Datatype type, Op op, const memory::Reduction& reduction) {
    reduced_type_ = type;
    op_ = op;
    reduction_ = reduction;
  }

 private:
  Datatype type_{};
  const TypeFacts* facts_ = nullptr;
  std::uint64_t freed_ = 0;
  Datatype reduced_type_{};
  Op op_{};
  memory::Reduction reduction_;
};

}  // namespace huddle::mpi
