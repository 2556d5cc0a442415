// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/reducer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "mpi/back_end/message.h"

namespace huddle::mpi {
std::optional<Reducer> Reducer::find(const Real& real, const Operators& known, Comm comm,
                                     Datatype type, const TypeFacts& facts, Op op) {
  Reducer reducer(real, comm, type, facts, op);
  const std::optional<memory::Operator> builtin = known.reduction(op);
  if (builtin) {
    // The MPI's operators are for named types; the MPI says what is wrong with others.
    if (facts.element == nullptr || !allows(facts.element->kind, *builtin)) return std::nullopt;
    const std::optional<memory::Type> element = element_type(*facts.element, facts.bytes);
    if (!element || !memory::is_defined(*element, *builtin)) return std::nullopt;
    reducer.kernel_ = Kernel{*element, *builtin};
    return reducer;
  }
  if (known.is_predefined(op)) return std::nullopt;
  int commutative = 0;
  real.op_commutative(op, &commutative);
  reducer.commutative_ = commutative != 0;
  reducer.is_packed_ = !facts.dense && facts.element == nullptr;
  return reducer;
}

memory::Reduction Reducer::reduction() {
  if (kernel_) return memory::reduction(kernel_->type, kernel_->op);
  return {.combine = is_packed_ ? by_mpi_packed : by_mpi,
          .context = this,
          .element_bytes = is_packed_ ? facts_.bytes : static_cast<std::size_t>(facts_.extent),
          .commutative = commutative_};
}

void Reducer::join(const void* left, void* right_and_result, int count) const {
  if (real_.reduce_local(left, right_and_result, count, type_, op_) != success) {
    throw std::runtime_error("the MPI does not apply the program's operator to this datatype");
  }
}

// The MPI writes its result over the right side.
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
      self.join(left_part, aside.data(), static_cast<int>(part));
      std::memcpy(result, aside.data(), aside.size());
    } else {
      if (to != right) std::memcpy(result, right_part, part * element);
      self.join(left_part, result, static_cast<int>(part));
    }
    done += part;
  }
}

// The program's operator wants its elements as its datatype lays them out.
void Reducer::by_mpi_packed(void* to, const void* left, const void* right, std::size_t count,
                            void* context) {
  const auto& self = *static_cast<const Reducer*>(context);
  const auto laid_out = [&](const void* packed, std::vector<std::byte>& room) {
    // Data may begin before an element's address and end behind its extent.
    const auto before = static_cast<std::size_t>(std::max<Aint>(0, -self.facts_.first_byte));
    const auto extent = static_cast<std::size_t>(std::abs(self.facts_.extent));
    room.resize(before + count * extent +
                static_cast<std::size_t>(std::max<Aint>(0, self.facts_.first_byte)) +
                self.facts_.span);
    Dense view(self.real_, self.comm_,
               {room.data() + before, static_cast<Count>(count), self.type_}, self.facts_);
    std::memcpy(view.data(), packed, view.bytes());
    view.store();
    return view;
  };
  std::vector<std::byte> left_room;
  std::vector<std::byte> right_room;
  Dense left_view = laid_out(left, left_room);
  Dense right_view = laid_out(right, right_room);
  self.join(left_view.address(), right_view.address(), static_cast<int>(count));
  right_view.fetch();
  std::memcpy(to, right_view.data(), right_view.bytes());
}

}  // namespace huddle::mpi
