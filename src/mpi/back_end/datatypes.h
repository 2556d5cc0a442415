// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Properties of datatypes and operators, found by their handles.
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
  bool is_type = false;                // not null, and committed
  std::size_t bytes = 0;               // size of the data
  Aint lower_bound = 0;                // offset of an element from its address
  Aint extent = 0;                     // from one element to the next
  Aint first_byte = 0;                 // offset of the data from the element's address
  std::size_t span = 0;                // from the first byte of data to the end of the last
  bool dense = false;                  // elements have no gaps and are in type-map order
  const Element* element = nullptr;    // of predefined types only
  std::optional<memory::Type> number;  // type in huddle's reductions; of predefined types only
};

// The properties of null and uncommitted datatypes.
inline constexpr TypeFacts no_type;

// Size of the value in an x86 long double; the other bytes are padding.
inline constexpr std::size_t long_double_value_bytes = 10;

class Operators {
 public:
  struct Named {
    Op handle{};
    std::string_view name;
    std::optional<memory::Operator> reduction;  // nullopt: not for reductions
    std::size_t number = 0;                     // index in the ABI's list
  };

  explicit Operators(Find find);

  bool is_null(Op op) const { return op == null_; }
  // Returns null for a user-defined operator.
  const Named* find(Op op) const;
  // Requires: `name` is a predefined operator for reductions.
  Op named(std::string_view name) const;
  // Returns the name for messages.
  std::string_view name(Op op) const;

 private:
  Op null_;
  std::array<Named, operators.size()> named_;
};

// Caches which operators the MPI supports for one type. Thread-safe.
class Answers {
 public:
  // Returns nullopt if the MPI has not been queried.
  std::optional<bool> of(const Operators::Named& op) const {
    if ((asked_.load(std::memory_order_acquire) & bit(op)) == 0) return std::nullopt;
    return (combined_.load(std::memory_order_relaxed) & bit(op)) != 0;
  }
  void note(const Operators::Named& op, bool is_combined) {
    if (is_combined) combined_.fetch_or(bit(op), std::memory_order_relaxed);
    asked_.fetch_or(bit(op), std::memory_order_release);
  }

 private:
  static_assert(operators.size() <= 32);
  static std::uint32_t bit(const Operators::Named& op) { return std::uint32_t{1} << op.number; }

  std::atomic<std::uint32_t> asked_{0};
  std::atomic<std::uint32_t> combined_{0};
};

class Types {
 public:
  Types(const UnderlyingMpi& real, Find find);

  // begin() is called after MPI_Init and end() before MPI_Finalize. In between, types can be
  // tested; outside, all types are assumed to be committed.
  void begin(Comm self);
  void end();

  // Called by the error handler if the MPI rejects a type under test.
  void note_refusal() const { refused_ = true; }

  // Returns the properties of a datatype, querying the MPI once. The reference is valid as long as
  // the type exists, so calls need not copy the properties.
  // Requires: MPI is initialized and the type is not null.
  const TypeFacts& facts(Datatype type) const;
  bool is_null(Datatype type) const { return type == null_; }
  // Returns how many known types have been freed. While the number does not change, all handles
  // denote the same types and references from facts() remain valid.
  std::uint64_t freed() const { return freed_.load(std::memory_order_acquire); }
  // Returns a predefined datatype by its MPI name.
  // Requires: every MPI has it.
  Datatype named(std::string_view name) const;
  // Returns whether the MPI supports a predefined operator for the type. Queries the MPI once, on a
  // communicator of this rank alone; all ranks get the same answer because they use the same MPI.
  // Requires: the type is predefined, and this rank is in `comm`.
  bool combines(Datatype type, const TypeFacts& facts, const Operators::Named& op, Comm comm) const;
  // Returns whether the type contains numbers with padding bytes, which an MPI may or may not
  // transfer.
  // Requires: as for facts().
  bool holds_padding(Datatype type) const;

 private:
  struct Named {
    Datatype handle{};
    const Element* element = nullptr;
    TypeFacts facts;  // written once, before `known` is set
    std::atomic<bool> known{false};
    Answers answers;
  };
  // The attribute of a derived datatype.
  struct Kept {
    TypeFacts facts;
    Answers answers;
  };
  // The combiner of a datatype and the numbers of its arguments, as in MPI_Type_get_envelope.
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
  bool try_to_combine(Datatype type, const TypeFacts& facts, Op op, Comm alone) const;
  static int forget(Datatype type, int keyval, void* value, void* extra);
  TypeFacts ask(Datatype type) const;
  bool is_dense(Datatype type, const TypeFacts& facts) const;
  Envelope envelope(Datatype type) const;
  std::vector<Datatype> contents(Datatype type, const Envelope& envelope) const;
  void free_type(Datatype inner) const;

  const UnderlyingMpi& real_;
  Comm null_comm_;
  Datatype null_;
  // Derived datatypes keep their properties as an attribute, because handles are reused.
  mutable std::mutex mutex_;  // guards creation and tests
  // A communicator for tests, private to huddle; errors on it do not end the program.
  Comm trial_;
  mutable bool refused_ = false;
  mutable std::atomic<int> keyval_{keyval_invalid};
  mutable std::atomic<std::uint64_t> freed_{0};
  // A hash table by handle with open addressing; never full.
  mutable std::array<Named, 256> named_;
};

// Caches the results of a communicator's latest call for the next one, because programs repeat the
// same calls. For one thread at a time.
class LatestFacts {
 public:
  // Returns the properties, or null if this may not be the latest type, since handles are reused.
  const TypeFacts* of(Datatype type, const Types& types) const {
    const bool is_same = facts_ != nullptr && type_ == type && freed_ == types.freed();
    return is_same ? facts_ : nullptr;
  }
  // `freed` is types.freed() before the facts were queried.
  void note(Datatype type, const TypeFacts& facts, std::uint64_t freed) {
    type_ = type;
    facts_ = &facts;
    freed_ = freed;
  }

  // Returns the reduction, or null if these are not the latest type and operator. Only reductions
  // by huddle's kernels are cached: their types and operators are predefined and never freed.
  const memory::Reduction* reduction(Datatype type, Op op) const {
    const bool is_same = reduction_.combine != nullptr && reduced_type_ == type && op_ == op;
    return is_same ? &reduction_ : nullptr;
  }
  void note(Datatype type, Op op, const memory::Reduction& reduction) {
    reduced_type_ = type;
    op_ = op;
    reduction_ = reduction;
  }
  // Returns whether the MPI reduces this type by this operator to the same bits, or nullopt if
  // these are not the latest ones. Cached for the same reductions.
  std::optional<bool> has_same_result(Datatype type, Op op) const {
    return compared_type_ == type && compared_op_ == op ? has_same_result_ : std::nullopt;
  }
  void note_result(Datatype type, Op op, bool is_same) {
    compared_type_ = type;
    compared_op_ = op;
    has_same_result_ = is_same;
  }

 private:
  Datatype type_{};
  const TypeFacts* facts_ = nullptr;
  std::uint64_t freed_ = 0;
  Datatype compared_type_{};
  Op compared_op_{};
  std::optional<bool> has_same_result_;
  Datatype reduced_type_{};
  Op op_{};
  memory::Reduction reduction_;
};

}  // namespace huddle::mpi
