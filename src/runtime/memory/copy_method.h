// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Methods of transferring a block through shared memory. A method consists of the kernels for
// copy-in and copy-out, and of a rule for which core owns the block's cache lines when the block is
// reused. The table below contains everything about a method: its name, kernels and line ownership,
// and the curves of the machine file that contain its cost. `huddle calibrate` measures these
// curves, the cost model uses them, and protocols copy as the entry specifies.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/memory/copy.h"

namespace huddle::memory {

// Specifies which core holds a block's cache lines when the block is written again.
enum class LineOwnership : std::uint8_t {
  readers_share,  // any number of readers hold copies of them
  reader_takes,   // the only reader took ownership while it read them (read_and_own)
  ping_pong,      // the reader writes the next block to them, for the previous writer
  prefetched,     // the writer prefetches them for writing after it has sent a block
};

struct CopyMethodFacts {
  std::string_view name;  // as printed by `huddle explain`
  CopyKernel in = CopyKernel::plain;
  LineOwnership ownership = LineOwnership::readers_share;
  CopyKernel out = CopyKernel::plain;
  // Names of curves in the machine file: the time to write a block, the time to read it, and the
  // time of both if they overlap in a ring of blocks.
  std::string_view write_curve = "write_cached";
  std::string_view read_curve = "read_dirty";
  std::string_view ring_curve = "ring";
  // Curve with a lower bound of the read time if the reader takes ownership; empty otherwise.
  std::string_view own_curve = {};
};

// To add a method, add an entry. If several methods have the same cost, the first is used.
inline constexpr std::array copy_methods = {
    CopyMethodFacts{.name = "plain"},
    CopyMethodFacts{
        .name = "rep_movsb", .in = CopyKernel::rep_movsb, .ring_curve = "ring_rep_movsb"},
    CopyMethodFacts{.name = "nontemporal",
                    .in = CopyKernel::nontemporal,
                    .write_curve = "write_cached_nontemporal",
                    .ring_curve = "ring_nontemporal"},
    CopyMethodFacts{.name = "prefetch_write",
                    .in = CopyKernel::prefetch_write,
                    .ring_curve = "ring_prefetch_write"},
    CopyMethodFacts{.name = "interleaved pages",
                    .in = CopyKernel::interleaved,
                    .out = CopyKernel::interleaved,
                    .write_curve = "write_interleaved",
                    .read_curve = "read_interleaved",
                    .ring_curve = "ring_interleaved"},
    CopyMethodFacts{.name = "reader takes ownership",
                    .ownership = LineOwnership::reader_takes,
                    .write_curve = "write_reader_owned",
                    .ring_curve = "ring_reader_owned",
                    .own_curve = "read_and_own"},
    CopyMethodFacts{.name = "ping-pong",
                    .ownership = LineOwnership::ping_pong,
                    .write_curve = "write_ping_pong"},
    CopyMethodFacts{.name = "ping-pong, interleaved pages",
                    .ownership = LineOwnership::ping_pong,
                    .out = CopyKernel::interleaved,
                    .write_curve = "write_ping_pong",
                    .read_curve = "read_interleaved"},
    CopyMethodFacts{.name = "prefetched for write",
                    .ownership = LineOwnership::prefetched,
                    .write_curve = "write_ping_pong"},
    CopyMethodFacts{.name = "prefetched for write, interleaved pages",
                    .in = CopyKernel::interleaved,
                    .ownership = LineOwnership::prefetched,
                    .out = CopyKernel::interleaved,
                    .write_curve = "write_ping_pong",
                    .read_curve = "read_interleaved",
                    .ring_curve = "ring_interleaved"},
};

// Index into copy_methods. Unlike a pointer, it means the same in every process, so plans can
// contain it.
class CopyMethod {
 public:
  constexpr CopyMethod() = default;
  // Converts a copy-in kernel to the first method that uses it and allows any number of readers.
  constexpr CopyMethod(CopyKernel kernel)
      : number_(number_of(kernel, LineOwnership::readers_share)) {}
  // Requires: `number` is an index into copy_methods.
  static constexpr CopyMethod numbered(std::size_t number) {
    CopyMethod method;
    method.number_ = static_cast<std::uint8_t>(number);
    return method;
  }
  // Returns the first method with this copy-in kernel and ownership.
  static constexpr CopyMethod of(CopyKernel in, LineOwnership ownership) {
    return numbered(number_of(in, ownership));
  }
  static constexpr CopyMethod of(CopyKernel in, LineOwnership ownership, CopyKernel out) {
    std::size_t number = number_of(in, ownership);
    while (copy_methods[number].in != in || copy_methods[number].ownership != ownership ||
           copy_methods[number].out != out) {
      ++number;
    }
    return numbered(number);
  }

  constexpr std::size_t number() const { return number_; }
  constexpr const CopyMethodFacts& operator*() const { return copy_methods[number_]; }
  constexpr const CopyMethodFacts* operator->() const { return &copy_methods[number_]; }
  // Returns the method with the same copy-in kernel that allows any number of readers.
  constexpr CopyMethod where_readers_share() const { return {(*this)->in}; }
  // Returns whether the writer finds the cache lines in its own cache.
  constexpr bool is_at_hand() const {
    return (*this)->ownership == LineOwnership::ping_pong ||
           (*this)->ownership == LineOwnership::prefetched;
  }

  bool operator==(const CopyMethod&) const = default;

 private:
  static constexpr std::uint8_t number_of(CopyKernel in, LineOwnership ownership) {
    std::size_t number = 0;
    while (copy_methods[number].in != in || copy_methods[number].ownership != ownership) ++number;
    return static_cast<std::uint8_t>(number);
  }

  std::uint8_t number_ = 0;
};

constexpr std::string_view name(CopyMethod method) { return method->name; }

inline constexpr CopyMethod by_interleaved_pages = CopyKernel::interleaved;
inline constexpr CopyMethod by_reader_ownership =
    CopyMethod::of(CopyKernel::plain, LineOwnership::reader_takes);
inline constexpr CopyMethod by_ping_pong =
    CopyMethod::of(CopyKernel::plain, LineOwnership::ping_pong);
inline constexpr CopyMethod by_ping_pong_pages =
    CopyMethod::of(CopyKernel::plain, LineOwnership::ping_pong, CopyKernel::interleaved);
inline constexpr CopyMethod by_prefetch =
    CopyMethod::of(CopyKernel::plain, LineOwnership::prefetched);
inline constexpr CopyMethod by_prefetch_pages =
    CopyMethod::of(CopyKernel::interleaved, LineOwnership::prefetched, CopyKernel::interleaved);

using CopyMethodSet = std::bitset<copy_methods.size()>;  // by number

// The methods that a protocol may choose from.
using CopyMethods = std::span<const CopyMethod>;

namespace detail {

template <auto is_allowed>
constexpr auto allowed_copy_methods() {
  constexpr std::size_t count = [] {
    std::size_t sum = 0;
    for (const CopyMethodFacts& method : copy_methods) sum += is_allowed(method) ? 1 : 0;
    return sum;
  }();
  std::array<CopyMethod, count> methods;
  std::size_t next = 0;
  for (std::size_t i = 0; i < copy_methods.size(); ++i) {
    if (is_allowed(copy_methods[i])) methods[next++] = CopyMethod::numbered(i);
  }
  return methods;
}

constexpr bool is_shared(const CopyMethodFacts& method) {
  return method.ownership == LineOwnership::readers_share;
}
constexpr bool is_taken(const CopyMethodFacts& method) {
  return method.ownership == LineOwnership::reader_takes;
}
constexpr bool is_ping_pong(const CopyMethodFacts& method) {
  return method.ownership == LineOwnership::ping_pong;
}
// Returns whether the method suits blocks that readers reduce without copying them out. The
// copy-out kernel is not used then, so only the methods with the default one are listed.
constexpr bool is_joined(const CopyMethodFacts& method) { return method.out == CopyKernel::plain; }

}  // namespace detail

inline constexpr auto all_copy_methods =
    detail::allowed_copy_methods<[](const CopyMethodFacts&) { return true; }>();
inline constexpr auto to_many_readers = detail::allowed_copy_methods<detail::is_shared>();
inline constexpr auto to_one_reader =
    detail::allowed_copy_methods<[](const CopyMethodFacts& method) {
      return detail::is_shared(method) || detail::is_taken(method);
    }>();
// For pairs of ranks that send equal amounts to each other at the same time.
inline constexpr auto both_ways = detail::allowed_copy_methods<[](const CopyMethodFacts& method) {
  return detail::is_shared(method) || detail::is_taken(method) || detail::is_ping_pong(method);
}>();
// For a rank that replies in the cache lines that it has just read, to the rank that wrote them.
inline constexpr auto for_answers = detail::allowed_copy_methods<detail::is_ping_pong>();
// For a rank that sends but receives nothing in the same call.
inline constexpr auto one_way = detail::allowed_copy_methods<[](const CopyMethodFacts& method) {
  return method.ownership == LineOwnership::prefetched;
}>();
// For single copies from or to memory that a peer has mapped: methods that use one kernel only.
inline constexpr auto same_kernel_both_ends =
    detail::allowed_copy_methods<[](const CopyMethodFacts& method) {
      return detail::is_shared(method) && method.in == method.out;
    }>();
// For blocks that their readers reduce directly from shared memory, without copying them out.
inline constexpr auto reduced_by_many =
    detail::allowed_copy_methods<[](const CopyMethodFacts& method) {
      return detail::is_joined(method) && detail::is_shared(method);
    }>();
inline constexpr auto reduced_by_one =
    detail::allowed_copy_methods<[](const CopyMethodFacts& method) {
      return detail::is_joined(method) && (detail::is_shared(method) || detail::is_taken(method));
    }>();
inline constexpr auto joined_both_ways =
    detail::allowed_copy_methods<[](const CopyMethodFacts& method) {
      return detail::is_joined(method) &&
             (detail::is_shared(method) || detail::is_ping_pong(method));
    }>();

inline void copy_in(CopyMethod method, void* target, const void* source, std::size_t n) {
  copy_bytes(method->in, target, source, n);
}
inline void copy_out(CopyMethod method, void* target, void* source, std::size_t n) {
  method->ownership == LineOwnership::reader_takes ? read_and_own(target, source, n)
                                                   : copy_bytes(method->out, target, source, n);
}

}  // namespace huddle::memory
