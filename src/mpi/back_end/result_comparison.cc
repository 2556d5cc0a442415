// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/result_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mpi/numbers.h"

namespace huddle::mpi {
namespace {

bool is_number(memory::Type type) {
  const memory::TypeKind kind = memory::facts(type).kind;
  return (kind == memory::TypeKind::floating || kind == memory::TypeKind::complex) &&
         type != memory::Type::float16 && type != memory::Type::bfloat16;
}

bool is_rounded(memory::Operator op) {
  return op == memory::Operator::sum || op == memory::Operator::product;
}

// Packed pairs; of a long double only the bytes that are its value.
bool are_same_pairs(Dense& ours, Dense& theirs, const TypeFacts& pair, bool has_padding) {
  if (!has_padding) return std::memcmp(ours.data(), theirs.data(), ours.bytes()) == 0;
  for (std::size_t at = 0; at < ours.bytes(); at += pair.bytes) {
    const std::size_t index = at + sizeof(long double);
    if (std::memcmp(ours.data() + at, theirs.data() + at, long_double_value_bytes) != 0 ||
        std::memcmp(ours.data() + index, theirs.data() + index, sizeof(int)) != 0) {
      return false;
    }
  }
  return true;
}

bool holds_padding(const Types& types, const Written& written) {
  return std::any_of(written.parts.begin(), written.parts.end(), [&](const Part& part) {
    return part.bytes() > 0 && types.holds_padding(part.place.type);
  });
}

}  // namespace

std::optional<std::string> different_bytes(const Types& types, const Written& written,
                                           ReferenceResult& twin) {
  std::optional<std::size_t> at = twin.first_difference(false);
  if (at) at = twin.first_difference(holds_padding(types, written));
  if (!at) return std::nullopt;
  return fmt::format("{} differs from the MPI's (byte {} of {})", twin.place_of(*at), *at,
                     twin.bytes());
}

ResultComparison::ResultComparison(const Process& process, Comm comm, const Part& brought, Op op)
    : process_(process), comm_(comm), kernel_(kernel_of(process.operators(), *brought.facts, op)) {}

bool ResultComparison::wants_scale() const {
  return kernel_ && is_number(kernel_->type) && is_rounded(kernel_->op);
}

std::vector<double> ResultComparison::magnitudes_of(const void* numbers, Count count) const {
  return magnitudes(kernel_->type, numbers, static_cast<std::size_t>(count));
}

Op ResultComparison::operator_of_scale() const {
  return process_.operators().named(kernel_->op == memory::Operator::sum ? "MPI_SUM" : "MPI_PROD");
}

std::optional<std::string> ResultComparison::difference(const Written& written,
                                                        ReferenceResult& twin, int ranks) const {
  // What rounding an operator of the program's own allows, only the program knows.
  if (!kernel_ || written.parts.empty()) return std::nullopt;
  const Part& ours = written.parts.front();
  if (memory::facts(kernel_->type).kind == memory::TypeKind::located) {
    return different_pairs(ours, twin);
  }
  return is_number(kernel_->type) ? different_numbers(ours, twin, ranks)
                                  : different_bytes(process_.types(), written, twin);
}

// Pairs have a gap inside that neither side has to keep: what counts is what MPI would send.
std::optional<std::string> ResultComparison::different_pairs(const Part& ours,
                                                             ReferenceResult& twin) const {
  Dense our_data(process_.real(), comm_, ours);
  Dense their_data(process_.real(), comm_,
                   {{twin.address(), ours.place.count, ours.place.type}, ours.facts});
  our_data.fetch();
  their_data.fetch();
  const bool has_padding = process_.types().holds_padding(ours.place.type);
  if (are_same_pairs(our_data, their_data, *ours.facts, has_padding)) return std::nullopt;
  return "pairs differ from the MPI's";
}

std::optional<std::string> ResultComparison::different_numbers(const Part& ours,
                                                               ReferenceResult& twin,
                                                               int ranks) const {
  const auto count = static_cast<std::size_t>(ours.place.count);
  const std::optional<Difference> difference =
      is_rounded(kernel_->op)
          ? compare_rounded(kernel_->type, ours.place.address, twin.address(), count, ranks, scale_)
          : compare_values(kernel_->type, ours.place.address, twin.address(), count);
  if (!difference) return std::nullopt;
  return fmt::format("element {}: huddle and the MPI have {}", difference->at, difference->text);
}

}  // namespace huddle::mpi
