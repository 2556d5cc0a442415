// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compiled once per ABI and never linked: checks that each entry of the ABI's lists is unique and
// known to huddle's tables.
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "abi.h"
#include "mpi/abi/elements.h"

namespace huddle::mpi {
namespace {

template <std::size_t size>
constexpr bool each_once(const std::array<Predefined, size>& list) {
  for (std::size_t i = 0; i < size; ++i) {
    if (list[i].name == nullptr) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (std::string_view(list[i].name) == list[j].name) return false;
    }
  }
  return true;
}
static_assert(each_once(datatypes));
static_assert(each_once(operators));

constexpr bool every_datatype_is_known() {
  for (const Predefined& datatype : datatypes) {
    if (find_element(datatype.name) == nullptr) return false;
  }
  return true;
}
static_assert(every_datatype_is_known());

constexpr std::size_t known_operators() {
  std::size_t known = 0;
  for (const Predefined& op : operators) known += find_operator(op.name) ? 1 : 0;
  return known;
}
static_assert(known_operators() == reductions.size());

// The same source is compiled with each abi.h, which must define these names with the same types.
static_assert(success == 0 && !abi_name.empty() && sizeof(Count) == 8);
static_assert(std::is_invocable_r_v<Comm, decltype(handle<Comm>), const Predefined&, Find>);
static_assert(
    std::is_invocable_r_v<CopyFunction, decltype(handle<CopyFunction>), const Predefined&, Find>);

}  // namespace
}  // namespace huddle::mpi
