// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/network/ranks/measure.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "tools/bench/harness/harness.h"
#include "tools/bench/network/result_lines.h"

namespace huddle::bench::network {
namespace {

constexpr int tag = 1;
// A series ends at either limit, but has at least `least_samples` samples.
constexpr double series_ns = 3e8;
constexpr std::size_t most_samples = 15;
constexpr std::size_t least_samples = 3;
// Calls that take less time are timed several times in a row, because the clock and the
// synchronization before them would distort a single one.
constexpr double shortest_stretch_ns = 2e6;
constexpr int most_in_a_row = 20;
// Number of 8-byte messages. They fit into the buffers of any network before they are received.
constexpr int small_messages = 200;
constexpr int large_messages = 4;

// All operations that huddle runs between nodes (machine::collective_names).
constexpr std::array calls = {Operation::barrier,
                              Operation::bcast,
                              Operation::reduce,
                              Operation::allreduce,
                              Operation::allgather,
                              Operation::allgatherv,
                              Operation::alltoall,
                              Operation::gather,
                              Operation::scatter,
                              Operation::reduce_scatter,
                              Operation::reduce_scatter_block};

double now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}
double wall_ns() { return now_ns(CLOCK_MONOTONIC); }
double cpu_ns() { return now_ns(CLOCK_THREAD_CPUTIME_ID); }

void pause_for(double ns) {
  const auto whole = static_cast<std::int64_t>(ns);
  timespec time{whole / 1'000'000'000, whole % 1'000'000'000};
  nanosleep(&time, nullptr);
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Returns half of the interquartile range, relative to the median.
double spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double low = values[values.size() / 4];
  const double high = values[(3 * values.size()) / 4];
  return (high - low) / 2 / middle(values);
}

template <class... Words>
std::string line(const Words&... words) {
  std::ostringstream out;
  out.precision(9);
  std::size_t number = 0;
  ((out << (number++ == 0 ? "" : " ") << words), ...);
  return out.str();
}

// Returns the version on one line; some MPIs add pages about their build.
std::string version_of(const ranks::Sides& sides) {
  std::string version(mpi::max_library_version_string, '\0');
  int length = 0;
  sides.service.get_library_version(version.data(), &length);
  version.resize(std::min(version.find_first_of(std::string("\0\n\r", 3)), version.size()));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version;
}

}  // namespace

void say(std::string_view word, const std::string& rest) {
  std::cout << mark << word << ' ' << rest << std::endl;
}

Ranks::Ranks(const ranks::Sides& sides) : sides_(sides) {
  sides.service.comm_rank(sides.world, &rank_);
  sides.service.comm_size(sides.world, &ranks_);
  find_hosts();
}

// Assigns ranks to hosts by the MPI's processor names, and pairs the ranks of the first two hosts.
void Ranks::find_hosts() {
  constexpr auto room = static_cast<std::size_t>(mpi::max_processor_name);
  std::string mine(room, '\0');
  int length = 0;
  sides_.service.get_processor_name(mine.data(), &length);
  mine.resize(static_cast<std::size_t>(std::max(0, length)));
  mine.resize(room, '\0');
  std::string all(room * static_cast<std::size_t>(ranks_), '\0');
  sides_.side(Side::native)
      .allgather(mine.data(), static_cast<int>(room), sides_.byte, all.data(),
                 static_cast<int>(room), sides_.byte, sides_.world);
  std::vector<std::string> names;
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::string name = all.substr(room * static_cast<std::size_t>(rank), room);
    const auto known = std::find(names.begin(), names.end(), name);
    host_of_.push_back(static_cast<int>(known - names.begin()));
    if (known == names.end()) names.push_back(name);
  }
  hosts_ = static_cast<int>(names.size());
  std::array<std::vector<int>, 2> on;
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto host = static_cast<std::size_t>(host_of_[static_cast<std::size_t>(rank)]);
    if (host < on.size()) on[host].push_back(rank);
  }
  const std::size_t pairs = std::min(on[0].size(), on[1].size());
  senders_.assign(on[0].begin(), on[0].begin() + static_cast<std::ptrdiff_t>(pairs));
  receivers_.assign(on[1].begin(), on[1].begin() + static_cast<std::ptrdiff_t>(pairs));
}

void Ranks::measure(bool quick) {
  if (is_reporting_rank()) {
    std::size_t runs = 1;
    for (std::size_t rank = 1; rank < host_of_.size(); ++rank) {
      runs += host_of_[rank] != host_of_[rank - 1] ? 1 : 0;
    }
    const bool in_order = runs == static_cast<std::size_t>(hosts_);
    say(word_hosts, line(hosts_, ranks_, in_order ? 1 : 0, version_of(sides_)));
  }
  // `huddle calibrate` reports that there is only one host.
  if (hosts_ < 2) return;
  begin_step(step_messages);
  measure_messages();
  measure_cpu();
  begin_step(step_both);
  measure_both_ways();
  begin_step(step_senders);
  measure_senders();
  measure_calls(quick);
  if (is_reporting_rank()) say(word_done, "");
}

void Ranks::begin_step(std::string_view name) const {
  if (is_reporting_rank()) say(word_step, std::string(name));
}

// Sleeps between tests of the request, so that waiting ranks do not occupy hardware threads that
// measured ranks need.
void Ranks::meet() const {
  constexpr double nap_ns = 2e5;
  mpi::Request request{};
  if (sides_.service.ibarrier(sides_.world, &request) != mpi::success) {
    throw std::runtime_error("the MPI has no working MPI_Ibarrier");
  }
  int all_here = 0;
  while (sides_.service.test(&request, &all_here, mpi::status_ignore()) == mpi::success &&
         all_here == 0) {
    pause_for(nap_ns);
  }
}

double Ranks::slowest(double ns) const {
  double most = 0;
  sides_.service.allreduce(&ns, &most, 1, sides_.number, sides_.most, sides_.world);
  return most;
}

void Ranks::send(const std::vector<std::byte>& data, std::size_t bytes, int to) const {
  sides_.service.send(data.data(), static_cast<int>(bytes), sides_.byte, to, tag, sides_.world);
}

void Ranks::receive(std::vector<std::byte>& data, std::size_t bytes, int from) const {
  sides_.service.receive(data.data(), static_cast<int>(bytes), sides_.byte, from, tag, sides_.world,
                         mpi::status_ignore());
}

// Measures a ping-pong between one rank of the first host and one of the second.
void Ranks::measure_messages() {
  const int first = senders_.front();
  const int second = receivers_.front();
  for (const std::size_t bytes : message_bytes) {
    std::vector<std::byte> data(bytes);
    std::vector<double> one_way;
    if (rank_ == first) {
      const double start = wall_ns();
      for (std::size_t i = 0; i <= most_samples; ++i) {
        const double before = wall_ns();
        // The first message is the warm-up. The message itself states whether another one follows.
        const bool is_last =
            i >= least_samples && (i == most_samples || before - start > series_ns);
        data[0] = static_cast<std::byte>(is_last ? 1 : 0);
        send(data, bytes, second);
        receive(data, bytes, second);
        if (i > 0) one_way.push_back((wall_ns() - before) / 2);
        if (is_last) break;
      }
      if (bytes == both_ways_bytes) whole_one_way_ns_ = middle(one_way);
      if (is_reporting_rank()) say(word_message, line(bytes, middle(one_way), spread(one_way)));
    } else if (rank_ == second) {
      do {
        receive(data, bytes, first);
        send(data, bytes, first);
      } while (data[0] == std::byte{0});
    }
    meet();
  }
}

// Finds the best piece size for an exchange of two ranks. The ranks of a collective rarely begin
// together, so the second rank starts to send a quarter of the one-way time later, when the first
// rank's data is under way. That delay is not counted.
void Ranks::measure_both_ways() {
  const int first = senders_.front();
  const int second = receivers_.front();
  for (const std::size_t piece_bytes : pieces_bytes) {
    std::vector<double> both_ways;
    double later_ns = 0;  // 0: there are no more exchanges
    double other_ns = 0;
    std::vector<std::byte> word(sizeof(double));
    if (rank_ == first) {
      const double start = wall_ns();
      for (std::size_t i = 0;; ++i) {
        const bool is_last =
            i >= least_samples && (i == most_samples || wall_ns() - start > series_ns);
        later_ns = is_last ? 0 : whole_one_way_ns_ / 4;
        std::memcpy(word.data(), &later_ns, sizeof later_ns);
        send(word, word.size(), second);
        receive(word, word.size(), second);
        if (is_last) break;
        const double ns = exchange_ns(second, piece_bytes, 0);
        receive(word, word.size(), second);
        std::memcpy(&other_ns, word.data(), sizeof other_ns);
        // The first exchange is the warm-up.
        if (i > 0) both_ways.push_back(std::max(ns, other_ns) - later_ns);
      }
      if (is_reporting_rank()) say(word_both, line(piece_bytes, middle(both_ways)));
    } else if (rank_ == second) {
      while (true) {
        receive(word, word.size(), first);
        std::memcpy(&later_ns, word.data(), sizeof later_ns);
        send(word, word.size(), first);
        if (later_ns <= 0) break;
        other_ns = exchange_ns(first, piece_bytes, later_ns);
        std::memcpy(word.data(), &other_ns, sizeof other_ns);
        send(word, word.size(), first);
      }
    }
    meet();
  }
}

// Runs one exchange: posts its receives immediately and its sends `later_ns` later. Returns the
// time.
double Ranks::exchange_ns(int peer, std::size_t piece_bytes, double later_ns) const {
  const std::vector<std::byte> outgoing(both_ways_bytes);
  std::vector<std::byte> incoming(both_ways_bytes);
  std::vector<mpi::Request> requests;
  requests.reserve(2 * both_ways_bytes / piece_bytes);
  const auto count = static_cast<int>(piece_bytes);
  const auto is_done = [&](mpi::Request& request) {
    int done = 0;
    sides_.service.test(&request, &done, mpi::status_ignore());
    return done != 0;
  };
  const double start = wall_ns();
  for (std::size_t at = 0; at < both_ways_bytes; at += piece_bytes) {
    sides_.service.ireceive(incoming.data() + at, count, sides_.byte, peer, tag, sides_.world,
                            &requests.emplace_back());
  }
  std::size_t next = 0;
  while (wall_ns() - start < later_ns) {
    if (next < requests.size() && is_done(requests[next])) ++next;
  }
  for (std::size_t at = 0; at < both_ways_bytes; at += piece_bytes) {
    sides_.service.isend(outgoing.data() + at, count, sides_.byte, peer, tag, sides_.world,
                         &requests.emplace_back());
  }
  while (next < requests.size()) {
    if (is_done(requests[next])) ++next;
  }
  return wall_ns() - start;
}

// Measures the CPU time per message on the sender, and on a receiver whose messages have already
// arrived, because MPIs use the CPU while they wait.
void Ranks::measure_cpu() {
  std::vector<std::byte> data(8);
  double busy_ns = 0;
  meet();
  if (rank_ == senders_.front()) {
    const double before = cpu_ns();
    for (int i = 0; i < small_messages; ++i) send(data, data.size(), receivers_.front());
    busy_ns = (cpu_ns() - before) / small_messages;
  } else if (rank_ == receivers_.front()) {
    // All messages have arrived by then: the ping-pong measurement was much shorter.
    constexpr double surely_sent_ns = 5e7;
    pause_for(surely_sent_ns);
    const double before = cpu_ns();
    for (int i = 0; i < small_messages; ++i) receive(data, data.size(), senders_.front());
    busy_ns = (cpu_ns() - before) / small_messages;
  }
  meet();
  const double most_ns = slowest(busy_ns);
  if (is_reporting_rank()) say(word_cpu, line(most_ns));
}

// Measures all ranks of the first host sending to the second: small messages, then large ones.
void Ranks::measure_senders() {
  const auto pairs = static_cast<double>(senders_.size());
  const auto is_in = [this](const std::vector<int>& some) {
    return std::find(some.begin(), some.end(), rank_) - some.begin();
  };
  const auto stream = [&](std::size_t bytes, int messages) {
    std::vector<std::byte> data(bytes);
    const auto as_sender = static_cast<std::size_t>(is_in(senders_));
    const auto as_receiver = static_cast<std::size_t>(is_in(receivers_));
    meet();
    const double start = wall_ns();
    double ns = 0;
    if (as_sender < senders_.size()) {
      for (int i = 0; i < messages; ++i) send(data, bytes, receivers_[as_sender]);
      // The partner's reply shows that it has received all messages.
      receive(data, 1, receivers_[as_sender]);
      ns = wall_ns() - start;
    } else if (as_receiver < receivers_.size()) {
      for (int i = 0; i < messages; ++i) receive(data, bytes, senders_[as_receiver]);
      send(data, 1, senders_[as_receiver]);
    }
    meet();
    return slowest(ns);
  };
  stream(8, small_messages);
  const double little_ns = stream(8, small_messages);
  const std::size_t much = message_bytes.back();
  const double much_ns = stream(much, large_messages);
  if (!is_reporting_rank()) return;
  say(word_gap, line(little_ns / small_messages / pairs));
  say(word_rate, line(static_cast<double>(much) * large_messages * pairs / much_ns));
}

void Ranks::call(Operation operation, const ranks::CallData& at) const {
  if (operation == Operation::barrier) {
    sides_.side(Side::native).barrier(sides_.world);
  } else {
    ranks::call_function_of(operation)(sides_.side(Side::native), sides_, at);
  }
}

// Measures a collective of the MPI. Each sample is the time of the slowest rank. All ranks make the
// same number of calls, because all get this time and decide by it.
void Ranks::measure_call(Operation operation, std::size_t bytes) {
  const auto all = static_cast<std::size_t>(ranks_);
  const bool is_barrier = operation == Operation::barrier;
  const TestData shape = is_barrier ? TestData{} : test_data_of(operation);
  std::vector<std::byte> input(bytes * (shape.input_in_blocks ? all : 1));
  std::vector<std::byte> output(bytes * (shape.output_in_blocks ? all : 1));
  const std::vector<int> byte_counts(all, static_cast<int>(bytes));
  const std::vector<int> number_counts(all, static_cast<int>(bytes / sizeof(double)));
  std::vector<int> byte_places;
  for (std::size_t rank = 0; rank < all; ++rank) {
    byte_places.push_back(static_cast<int>(rank * bytes));
  }
  const ranks::CallData at{{rank_, ranks_, 0, bytes, 0, input.data(), output.data()},
                           byte_counts,
                           byte_places,
                           number_counts};
  // Consecutive calls of a rooted operation do not wait for each other, so a series would only
  // measure the interval between calls.
  const bool meets = operation != Operation::bcast && operation != Operation::reduce &&
                     operation != Operation::gather && operation != Operation::scatter;
  int in_a_row = 1;
  const auto sample = [&] {
    meet();
    sides_.service.barrier(sides_.world);
    const double start = wall_ns();
    for (int i = 0; i < in_a_row; ++i) call(operation, at);
    return slowest(wall_ns() - start) / in_a_row;
  };
  sample();
  const double first_ns = std::max(1.0, sample());
  if (meets) {
    in_a_row = std::clamp(static_cast<int>(shortest_stretch_ns / first_ns), 1, most_in_a_row);
  }
  std::vector<double> ns;
  double sum_ns = 0;
  while (ns.size() < most_samples && (ns.size() < least_samples || sum_ns < series_ns)) {
    ns.push_back(sample());
    sum_ns += ns.back() * in_a_row;
  }
  if (!is_reporting_rank()) return;
  const std::size_t of_request = select::request_of(operation, bytes, ranks_).bytes;
  say(word_call,
      line(select::name(operation), is_barrier ? 1 : of_request, middle(ns), spread(ns)));
}

void Ranks::measure_calls(bool quick) {
  for (const Operation operation : calls) {
    begin_step(select::name(operation));
    if (operation == Operation::barrier) {
      measure_call(operation, 0);
      continue;
    }
    const TestData shape = test_data_of(operation);
    const bool in_blocks = shape.input_in_blocks || shape.output_in_blocks;
    for (const std::size_t bytes : call_bytes) {
      const bool is_quick = std::find(quick_call_bytes.begin(), quick_call_bytes.end(), bytes) !=
                            quick_call_bytes.end();
      const std::size_t of_rank = bytes * (in_blocks ? static_cast<std::size_t>(ranks_) : 1);
      if ((quick && !is_quick) || of_rank > most_bytes_of_rank) continue;
      measure_call(operation, bytes);
    }
  }
}

}  // namespace huddle::bench::network
