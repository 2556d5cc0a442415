// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/call_record.h"

#include <fmt/format.h>

#include <string_view>

namespace huddle::team {
namespace {

bool has_root(select::Operation operation) {
  const select::Traits& traits = select::traits_of(operation);
  return traits.in == select::Amount::all_at_root || traits.out == select::Amount::all_at_root ||
         select::gathers_at_root(operation) || select::scatters_from_root(operation);
}

std::string size_of(const CallArguments& arguments) {
  if (arguments.operation == select::Operation::barrier) return {};
  if (select::is_known_to_pairs_only(arguments.operation)) return {};
  return fmt::format(" of {} bytes", arguments.bytes);
}

std::string described(const CallArguments& arguments) {
  const std::string root =
      has_root(arguments.operation) ? fmt::format(" with root {}", arguments.root) : std::string();
  return fmt::format("{}{}{}", select::traits_of(arguments.operation).name, size_of(arguments),
                     root);
}

}  // namespace

std::string described_difference(int rank, const CallArguments& one, int other_rank,
                                 const CallArguments& other) {
  return fmt::format("ranks make collective calls that differ: rank {} calls {}, rank {} calls {}",
                     rank, described(one), other_rank, described(other));
}

CallArguments CallRecords::arguments_of(std::uint32_t kind, std::uint64_t sizes) {
  constexpr std::uint32_t operations = 1U << operation_bits;
  static_assert(select::all_traits.size() <= operations);
  return {static_cast<select::Operation>(kind % operations), static_cast<int>(kind / operations),
          static_cast<std::size_t>(sizes >> element_bits), static_cast<std::uint16_t>(sizes)};
}

// The record of a barrier is an older one's. A record may be written again while it is read, which
// begins when the rank is `kept - 1` calls ahead.
std::optional<CallArguments> CallRecords::find(std::uint32_t number) const {
  const auto is_kept = [this, number](std::memory_order order) {
    return calls_.load(order) - number < kept - 1;
  };
  if (!is_kept(std::memory_order_acquire)) return std::nullopt;
  const Record& record = records_[number % kept];
  const std::uint64_t call = record.call.load(std::memory_order_acquire);
  const std::uint64_t sizes = record.sizes.load(std::memory_order_acquire);
  if (!is_kept(std::memory_order_relaxed)) return std::nullopt;
  if (call >> kind_bits != number) return CallArguments{};
  return arguments_of(static_cast<std::uint32_t>(call), sizes);
}

}  // namespace huddle::team
