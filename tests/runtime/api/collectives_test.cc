// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Every collective through the C interface: all types with all operators, user-defined operators,
// in place, without data, and with more elements than an int can count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "c_ranks.h"
#include "reduction_reference.h"
#include "runtime/memory/types.h"

namespace huddle::api {
namespace {

using Bytes = std::vector<std::byte>;
using memory::Operator;
using memory::Type;

// The meaningful bytes of an element; padding between and after them may have any value.
struct Part {
  std::size_t offset;
  std::size_t bytes;
};
template <class Value>
std::vector<Part> parts_of_pair(std::size_t value_bytes) {
  return {{0, value_bytes}, {offsetof(memory::Located<Value>, index), sizeof(int)}};
}
std::vector<Part> parts_of(Type type) {
  // On x86 it has 80 bits in 16 bytes.
  constexpr bool is_padded = std::numeric_limits<long double>::digits == 64;
  constexpr std::size_t long_double_bytes = is_padded ? 10 : sizeof(long double);
  if (type == Type::long_double) return {{0, long_double_bytes}};
  if (type == Type::complex_long_double) {
    return {{0, long_double_bytes}, {sizeof(long double), long_double_bytes}};
  }
  if (type == Type::long_double_int) return parts_of_pair<long double>(long_double_bytes);
  if (type == Type::short_int) return parts_of_pair<short>(sizeof(short));
  if (type == Type::float64_int) return parts_of_pair<double>(sizeof(double));
  if (type == Type::long_int) return parts_of_pair<long>(sizeof(long));
  return {{0, memory::type_bytes(type)}};
}
Bytes meaning_of(Type type, const Bytes& elements) {
  Bytes meaning(elements.size());
  for (std::size_t at = 0; at < elements.size(); at += memory::type_bytes(type)) {
    for (const Part& part : parts_of(type)) {
      std::copy_n(&elements[at + part.offset], part.bytes, &meaning[at + part.offset]);
    }
  }
  return meaning;
}

Bytes elements_of(int rank, Type type, Operator op, std::size_t count) {
  std::mt19937_64 random(1000 * static_cast<std::uint64_t>(type) +
                         10 * static_cast<std::uint64_t>(op) + static_cast<std::uint64_t>(rank));
  return memory::random_elements(type, count, random);
}

Bytes joined(Type type, Operator op, const Bytes& left, const Bytes& right) {
  Bytes result(left.size());
  for (std::size_t at = 0; at < left.size(); at += memory::type_bytes(type)) {
    memory::combine_reference(type, op, &result[at], &left[at], &right[at]);
  }
  return result;
}

// Three ranks can be combined in two orders, depending on their placement; the whole result uses
// one of them.
std::vector<Bytes> possible_results(Type type, Operator op, std::size_t count) {
  const Bytes a = elements_of(0, type, op, count);
  const Bytes b = elements_of(1, type, op, count);
  const Bytes c = elements_of(2, type, op, count);
  return {meaning_of(type, joined(type, op, joined(type, op, a, b), c)),
          meaning_of(type, joined(type, op, a, joined(type, op, b, c)))};
}

void check_pair(const TeamHandle& team, Type type, Operator op) {
  const auto c_type = static_cast<huddle_type>(type);
  const auto c_op = static_cast<huddle_operator>(op);
  const int rank = huddle_team_rank(team.get());
  const int root = (static_cast<int>(type) + static_cast<int>(op)) % 3;
  for (const std::size_t count : {std::size_t{5}, std::size_t{700}}) {
    const auto wanted = possible_results(type, op, count);
    const Bytes mine = elements_of(rank, type, op, count);
    Bytes in_place = mine;
    must(huddle_allreduce(team.get(), in_place.data(), in_place.data(), count, c_type, c_op), team);
    const Bytes result = meaning_of(type, in_place);
    ASSERT_TRUE(result == wanted[0] || result == wanted[1]) << name(op) << " of " << name(type);
    Bytes apart(mine.size());
    must(huddle_reduce(team.get(), mine.data(), rank == root ? apart.data() : nullptr, count,
                       c_type, c_op, root),
         team);
    if (rank == root) {
      ASSERT_TRUE(meaning_of(type, apart) == result) << name(op) << " of " << name(type);
    }
  }
}

TEST(Collectives, ReduceEveryTypeWithEveryOperator) {
  run_c_teams(3, [](const TeamHandle& team) {
    int pairs = 0;
    for (const memory::TypeFacts& facts : memory::type_facts) {
      EXPECT_EQ(huddle_type_bytes(static_cast<huddle_type>(facts.type)), facts.bytes);
      for (std::size_t op = 0; op < memory::operator_names.size(); ++op) {
        if (!is_defined(facts.type, static_cast<Operator>(op))) continue;
        check_pair(team, facts.type, static_cast<Operator>(op));
        ++pairs;
      }
    }
    EXPECT_GT(pairs, 100);
  });
}

// Maps x -> a x + b, composed: associative but not commutative.
struct Map {
  std::uint32_t a;
  std::uint32_t b;
  bool operator==(const Map&) const = default;
};
Map then(Map first, Map second) { return {second.a * first.a, second.a * first.b + second.b}; }
Map map_of(int rank, std::size_t i) {
  const auto at = static_cast<std::uint32_t>(i);
  const auto by = static_cast<std::uint32_t>(rank);
  return {2 * at + by + 3, 7 * by + at};
}

void join_maps(void* result, const void* left, const void* right, std::size_t count, void* arg) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<Map*>(result)[i] =
        then(static_cast<const Map*>(left)[i], static_cast<const Map*>(right)[i]);
  }
  ++*static_cast<int*>(arg);
}

TEST(Collectives, SupportNonCommutativeOperators) {
  for (const int ranks : {1, 4, 7}) {
    run_c_teams(ranks, [ranks](const TeamHandle& team) {
      const int rank = huddle_team_rank(team.get());
      int calls = 0;
      const huddle_reduction by{sizeof(Map), join_maps, &calls};
      for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{200'000}}) {
        std::vector<Map> mine(count);
        std::vector<Map> wanted(count);
        for (std::size_t i = 0; i < count; ++i) {
          mine[i] = map_of(rank, i);
          wanted[i] = map_of(0, i);
          for (int other = 1; other < ranks; ++other) wanted[i] = then(wanted[i], map_of(other, i));
        }
        std::vector<Map> result(count);
        const int root = ranks / 2;
        must(huddle_reduce_by(team.get(), mine.data(), result.data(), count, &by, root), team);
        if (rank == root) {
          ASSERT_EQ(result, wanted);
        }
        must(huddle_allreduce_by(team.get(), mine.data(), mine.data(), count, &by), team);
        ASSERT_EQ(mine, wanted);
      }
      int all_calls = calls;
      must(huddle_allreduce(team.get(), &calls, &all_calls, 1, HUDDLE_INT32, HUDDLE_SUM), team);
      EXPECT_EQ(all_calls > 0, ranks > 1);
    });
  }
}

// Elements larger than any slot are refused on all ranks.
TEST(Collectives, RefuseElementsLargerThanTeamMemory) {
  run_c_teams(2, [](const TeamHandle& team) {
    constexpr std::size_t huge = std::size_t{64} << 20;
    std::vector<char> data(huge);
    int calls = 0;
    const huddle_reduction by{huge, join_maps, &calls};
    EXPECT_EQ(huddle_allreduce_by(team.get(), data.data(), data.data(), 1, &by), HUDDLE_MISUSED);
    EXPECT_THAT(huddle_team_message(team.get()), testing::HasSubstr("raise queue_bytes"));
    EXPECT_EQ(calls, 0);
    must(huddle_barrier(team.get()), team);
  });
}

TEST(Collectives, WithoutDataMoveNothing) {
  run_c_teams(3, [](const TeamHandle& team) {
    int never = 17;
    must(huddle_bcast(team.get(), nullptr, 0, 2), team);
    must(huddle_reduce(team.get(), nullptr, nullptr, 0, HUDDLE_INT32, HUDDLE_SUM, 1), team);
    must(huddle_allreduce(team.get(), &never, &never, 0, HUDDLE_INT32, HUDDLE_SUM), team);
    EXPECT_EQ(never, 17);
    must(huddle_barrier(team.get()), team);
  });
}

void broadcast_and_compare(const TeamHandle& team, std::size_t bytes, int root) {
  const auto value = [](std::size_t i) { return static_cast<unsigned char>(i * 31 + i / 251); };
  std::vector<unsigned char> data(bytes);
  if (huddle_team_rank(team.get()) == root) {
    for (std::size_t i = 0; i < bytes; ++i) data[i] = value(i);
  }
  must(huddle_bcast(team.get(), data.data(), bytes, root), team);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i) wrong += data[i] == value(i) ? 0U : 1U;
  ASSERT_EQ(wrong, 0U);
}

TEST(Collectives, MoveLargeData) {
  run_c_teams(3, [](const TeamHandle& team) {
    broadcast_and_compare(team, (std::size_t{32} << 20) + 5, 1);
    constexpr std::size_t count = (std::size_t{8} << 20) + 3;
    std::vector<std::int32_t> mine(count, huddle_team_rank(team.get()) + 1);
    must(huddle_allreduce(team.get(), mine.data(), mine.data(), count, HUDDLE_INT32, HUDDLE_SUM),
         team);
    ASSERT_EQ(std::count(mine.begin(), mine.end(), 6), static_cast<std::ptrdiff_t>(count));
  });
}

// More bytes and elements than an int can count: two ranks with 2 GiB each. Enabled by
// BIG_COUNTS=1.
TEST(Collectives, MoveMoreThanIntMax) {
  if (asked_for("BIG_COUNTS", 0) == 0)
    GTEST_SKIP() << "takes 5 GiB: BIG_COUNTS=1, as test-all does";
  constexpr std::chrono::minutes limit{5};
  run_c_ranks(
      2,
      [](const huddle_bootstrap& bootstrap) {
        const ContextHandle context = new_context();
        const TeamHandle team = new_team(context, bootstrap);
        constexpr std::size_t count = (std::size_t{1} << 31) + 7;
        broadcast_and_compare(team, count, 0);
        std::vector<std::uint8_t> mine(count, static_cast<std::uint8_t>(bootstrap.rank + 1));
        must(huddle_allreduce(team.get(), mine.data(), mine.data(), count, HUDDLE_UINT8,
                              HUDDLE_BITWISE_OR),
             team);
        ASSERT_EQ(std::count(mine.begin(), mine.end(), 3), static_cast<std::ptrdiff_t>(count));
      },
      limit);
}

}  // namespace
}  // namespace huddle::api
