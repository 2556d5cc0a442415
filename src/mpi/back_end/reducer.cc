// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/reducer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/message.h"

namespace huddle::mpi {
namespace {

// Returns whether all MPIs support this combination.
bool is_standard(const Kernel& kernel, const TypeFacts& facts) {
  return allows(facts.element->kind, kernel.op);
}

// Returns whether the MPI supports the combination. Its predefined operators apply to predefined
// types only; the MPI reports an error for other types.
bool is_combined(const Types& types, Datatype type, const TypeFacts& facts,
                 const Operators::Named& op, Comm comm) {
  return op.reduction && facts.element != nullptr &&
         !is_never_handled(facts.element->kind, *op.reduction) &&
         types.combines(type, facts, op, comm);
}

}  // namespace

std::optional<Kernel> kernel_of(const Operators& known, const TypeFacts& facts, Op op) {
  const Operators::Named* named = known.find(op);
  if (named == nullptr || !named->reduction || !facts.number) return std::nullopt;
  const ElementKind kind = facts.element->kind;
  const memory::Operator reduction = *named->reduction;
  const bool is_alike = allows(kind, reduction) || is_alike_beyond(kind, reduction);
  if (!is_alike || !memory::is_defined(*facts.number, reduction)) return std::nullopt;
  return Kernel{*facts.number, reduction};
}

Reducer::Reducer(const UnderlyingMpi& real, const Types& types, const Operators& known, Comm comm,
                 Datatype type, const TypeFacts& facts, Op op)
    : real_(real), comm_(comm), type_(type), op_(op), reduction_(find(types, known, facts)) {}

memory::Reduction Reducer::find(const Types& types, const Operators& known,
                                const TypeFacts& facts) {
  const Operators::Named* named = known.find(op_);
  if (named == nullptr) return find_in_mpi(facts);
  const std::optional<Kernel> kernel = kernel_of(known, facts, op_);
  const bool is_taken =
      (kernel && is_standard(*kernel, facts)) || is_combined(types, type_, facts, *named, comm_);
  if (!is_taken) return {};
  return kernel ? memory::reduction(kernel->type, kernel->op) : find_in_mpi(facts);
}

memory::Reduction Reducer::find_in_mpi(const TypeFacts& facts) {
  int commutative = 0;
  real_.op_commutative(op_, &commutative);
  facts_ = facts;
  is_packed_ = !facts.dense && facts.element == nullptr;
  return {.combine = is_packed_ ? by_mpi_packed : by_mpi,
          .context = this,
          .element_bytes = is_packed_ ? facts.bytes : static_cast<std::size_t>(facts.extent),
          .commutative = commutative != 0};
}

void Reducer::combine(const void* left, void* right_and_result, int count) const {
  if (real_.reduce_local(left, right_and_result, count, type_, op_) != success) {
    throw std::runtime_error("the MPI cannot reduce this datatype with this operator");
  }
}

// MPI_Reduce_local overwrites its right operand with the result.
void Reducer::by_mpi(void* to, const void* left, const void* right, std::size_t count,
                     void* context) {
  const auto& self = *static_cast<const Reducer*>(context);
  const auto element = static_cast<std::size_t>(self.facts_.extent);
  constexpr std::size_t most = std::numeric_limits<int>::max();
  std::vector<std::byte> aside;
  for (std::size_t done = 0; done < count;) {
    const std::size_t part = std::min(most, count - done);
    const std::size_t from = done * element;
    auto* result = static_cast<std::byte*>(to) + from;
    const auto* left_part = static_cast<const std::byte*>(left) + from;
    const auto* right_part = static_cast<const std::byte*>(right) + from;
    if (to == left) {
      aside.assign(right_part, right_part + part * element);
      self.combine(left_part, aside.data(), static_cast<int>(part));
      std::memcpy(result, aside.data(), aside.size());
    } else {
      if (to != right) std::memcpy(result, right_part, part * element);
      self.combine(left_part, result, static_cast<int>(part));
    }
    done += part;
  }
}

// Unpacked elements, in the layout of their datatype, which the program's operator expects.
class Reducer::LaidOut {
 public:
  LaidOut(const Reducer& reducer, const void* packed, std::size_t count)
      : room_(room_bytes(reducer.facts_, count)),
        address_(moved(room_.data(), -first_offset(reducer.facts_, count))),
        view_(reducer.real_, reducer.comm_,
              {{address_, static_cast<Count>(count), reducer.type_}, &reducer.facts_}) {
    std::memcpy(view_.data(), packed, view_.bytes());
    view_.store();
  }

  // May be outside the memory of the elements, which begin far from it if their datatype contains
  // absolute addresses.
  void* address() const { return address_; }
  void pack(void* to) {
    view_.fetch();
    std::memcpy(to, view_.data(), view_.bytes());
  }

 private:
  // Distance from the first element's address to the last one's; negative if addresses decrease.
  static Aint to_last(const TypeFacts& facts, std::size_t count) {
    return count == 0 ? 0 : static_cast<Aint>(count - 1) * facts.extent;
  }
  // Data may begin before an element and end behind it, and an operator may copy whole elements.
  static Aint first_offset_of_element(const TypeFacts& facts) {
    return std::min({facts.first_byte, facts.lower_bound, facts.lower_bound + facts.extent});
  }
  static Aint last_offset_of_element(const TypeFacts& facts) {
    return std::max({facts.first_byte + static_cast<Aint>(facts.span), facts.lower_bound,
                     facts.lower_bound + facts.extent});
  }
  // Returns the offset at which the room begins. Elements keep the alignment that they have in the
  // program, and an operator may also copy what precedes the data of a structure.
  static Aint first_offset(const TypeFacts& facts, std::size_t count) {
    constexpr Aint alignment = alignof(std::max_align_t);
    constexpr Aint largest_structure = 4096;
    const Aint first = first_offset_of_element(facts) + std::min<Aint>(0, to_last(facts, count));
    return first >= 0 && first <= largest_structure ? 0 : first & ~(alignment - 1);
  }
  static std::size_t room_bytes(const TypeFacts& facts, std::size_t count) {
    const Aint end = last_offset_of_element(facts) + std::max<Aint>(0, to_last(facts, count));
    return static_cast<std::size_t>(end - first_offset(facts, count));
  }

  std::vector<std::byte> room_;
  void* address_;
  Dense view_;
};

void Reducer::by_mpi_packed(void* to, const void* left, const void* right, std::size_t count,
                            void* context) {
  const auto& self = *static_cast<const Reducer*>(context);
  const LaidOut left_elements(self, left, count);
  LaidOut right_elements(self, right, count);
  self.combine(left_elements.address(), right_elements.address(), static_cast<int>(count));
  right_elements.pack(to);
}

}  // namespace huddle::mpi
