// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The message sizes that are measured between nodes and the lines in which the ranks report the
// results. Every launcher carries the lines from rank 0. The file uses no MPI and needs no library.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace huddle::bench::network {

// Prefix of the protocol's lines, because launchers and MPIs print other lines as well.
inline constexpr std::string_view mark = "huddle-network: ";

// The first word after the mark, and what follows it.
inline constexpr std::string_view word_hosts =
    "hosts";  // number of hosts, ranks, whether in order, MPI
inline constexpr std::string_view word_step = "step";        // name of the step that begins
inline constexpr std::string_view word_message = "message";  // bytes, ns one way, spread
inline constexpr std::string_view word_both = "both";        // bytes of a piece, ns both ways
inline constexpr std::string_view word_cpu = "cpu";          // ns per message, on each side
inline constexpr std::string_view word_gap = "gap";        // ns between messages, all ranks sending
inline constexpr std::string_view word_rate = "rate";      // GB/s of a node, all ranks sending
inline constexpr std::string_view word_call = "call";      // operation, bytes, ns, spread
inline constexpr std::string_view word_done = "done";      // nothing; the measurement is complete
inline constexpr std::string_view word_failed = "failed";  // a message for the user

inline constexpr std::string_view step_messages = "messages, one rank sending";
inline constexpr std::string_view step_both = "messages, two ranks sending to each other";
inline constexpr std::string_view step_senders = "messages, all ranks of a node sending";

inline constexpr std::array<std::size_t, 6> message_bytes = {8,      512,     8192,
                                                             65'536, 524'288, 2'097'152};
// Piece sizes of an exchange between two ranks; the first is the whole message. Most MPIs send some
// of these eagerly and the others with rendezvous.
inline constexpr std::size_t both_ways_bytes = 524'288;
inline constexpr std::array<std::size_t, 6> pieces_bytes = {both_ways_bytes, 131'072, 65'536,
                                                            32'768,          16'384,  8192};
// Sizes of one rank's data, or of a block, in the measured collectives. `most_bytes_of_rank` bounds
// the data of one rank, because an exchange of many blocks takes seconds over a slow network.
inline constexpr std::array<std::size_t, 5> call_bytes = {8, 1024, 16'384, 131'072, 1'048'576};
inline constexpr std::size_t most_bytes_of_rank = std::size_t{1} << 20;
inline constexpr std::array<std::size_t, 2> quick_call_bytes = {8, 16'384};

}  // namespace huddle::bench::network
