// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is measured between nodes, and the lines in which the ranks that measure it say so: every
// launcher carries them from rank 0. No MPI in it, and nothing that has to be linked.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace huddle::bench::network {

// Launchers and MPIs print what they like: only lines that begin so are ours.
inline constexpr std::string_view mark = "huddle-network: ";

// The words behind the mark, and what follows each.
inline constexpr std::string_view word_hosts =
    "hosts";                                           // how many, ranks, whether in order, the MPI
inline constexpr std::string_view word_step = "step";  // its name; it begins
inline constexpr std::string_view word_message = "message";  // bytes, ns one way, spread
inline constexpr std::string_view word_both = "both";        // bytes of a piece, ns both ways
inline constexpr std::string_view word_cpu = "cpu";          // ns of a message, on each side
inline constexpr std::string_view word_gap = "gap";        // ns between messages, all ranks sending
inline constexpr std::string_view word_rate = "rate";      // GB/s of a node, all ranks sending
inline constexpr std::string_view word_call = "call";      // operation, bytes, ns, spread
inline constexpr std::string_view word_done = "done";      // nothing: all is measured
inline constexpr std::string_view word_failed = "failed";  // a sentence

inline constexpr std::string_view step_messages = "messages, one rank sending";
inline constexpr std::string_view step_both = "messages, two ranks sending to each other";
inline constexpr std::string_view step_senders = "messages, all ranks of a node sending";

inline constexpr std::array<std::size_t, 6> message_bytes = {8,      512,     8192,
                                                             65'536, 524'288, 2'097'152};
// What two send to each other: whole, then in pieces. Most MPIs send some of these at once, and ask
// the receiver before the others.
inline constexpr std::size_t both_ways_bytes = 524'288;
inline constexpr std::array<std::size_t, 6> pieces_bytes = {both_ways_bytes, 131'072, 65'536,
                                                            32'768,          16'384,  8192};
// Of one rank's data, or of a block, by factors of eight and sixteen; the largest that a rank gets
// in all is bounded: an exchange of many blocks takes seconds over a slow network.
inline constexpr std::array<std::size_t, 5> call_bytes = {8, 1024, 16'384, 131'072, 1'048'576};
inline constexpr std::size_t most_bytes_of_rank = std::size_t{1} << 20;
inline constexpr std::array<std::size_t, 2> quick_call_bytes = {8, 16'384};

}  // namespace huddle::bench::network
