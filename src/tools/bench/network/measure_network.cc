// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/network/measure_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "mpi/libraries.h"
#include "tools/bench/mpi/timed_run.h"
#include "tools/bench/network/result_lines.h"

namespace huddle::bench::network {
namespace {

constexpr std::size_t kept_bytes = 600;
// Smaller pieces must take at most this share of the time to be chosen, because runs vary.
constexpr double least_gain = 0.9;

void add_point(machine::Curve& curve, double bytes, double ns, double spread) {
  curve.bytes.push_back(bytes);
  curve.ns.push_back(ns);
  curve.spread.push_back(spread);
}

}  // namespace

void Reader::read(std::string_view more) {
  unread_ += more;
  for (std::size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    read_line(line);
  }
}

void Reader::read_line(const std::string& line) {
  const std::size_t begin = line.find(mark);
  if (begin == std::string::npos) {
    last_lines_ += (last_lines_.empty() ? "" : " | ") + line;
    if (last_lines_.size() > kept_bytes) last_lines_.erase(0, last_lines_.size() - kept_bytes);
    return;
  }
  std::istringstream words(line.substr(begin + mark.size()));
  std::string word;
  words >> word;
  double bytes = 0;
  double ns = 0;
  double spread = 0;
  if (word == word_hosts) {
    std::string version;
    words >> measured_.hosts >> measured_.ranks >> measured_.in_order;
    std::getline(words >> std::ws, version);
    measured_.mpi = mpi::library_title(version);
  } else if (word == word_step) {
    std::string name;
    std::getline(words >> std::ws, name);
    watcher_.begin_step(name);
  } else if (word == word_message && words >> bytes >> ns >> spread) {
    add_point(measured_.network.curve, bytes, ns, spread);
  } else if (word == word_both && words >> bytes >> ns) {
    add_point(both_ways_, bytes, ns, 0);
  } else if (word == word_cpu) {
    words >> measured_.network.cpu_ns;
  } else if (word == word_gap) {
    words >> measured_.network.gap_ns;
  } else if (word == word_rate) {
    words >> measured_.network.node_gb_per_s;
  } else if (std::string operation;
             word == word_call && words >> operation >> bytes >> ns >> spread) {
    add_call(operation, bytes, ns, spread);
  } else if (word == word_done) {
    is_done_ = true;
  } else if (word == word_failed) {
    std::getline(words >> std::ws, failure_);
  }
}

void Reader::add_call(const std::string& operation, double bytes, double ns, double spread) {
  auto& all = measured_.collectives;
  if (all.empty() || all.back().operation != operation) {
    all.push_back({measured_.mpi,
                   operation,
                   measured_.hosts,
                   measured_.ranks,
                   measured_.in_order,
                   {},
                   machine::Origin::measured});
  }
  add_point(all.back().curve, bytes, ns, spread);
}

// Chooses the piece size for exchanges. Each piece costs both ends some CPU time, so messages are
// cut into pieces, and into smaller pieces, only if the gain is clear.
void Reader::judge_both_ways() {
  if (both_ways_.ns.empty()) return;
  machine::Network& network = measured_.network;
  std::size_t taken = 0;
  for (std::size_t i = 1; i < both_ways_.ns.size(); ++i) {
    if (both_ways_.ns[i] < least_gain * both_ways_.ns[taken]) taken = i;
  }
  const double one_way_ns = machine::time_at(network.curve, static_cast<double>(both_ways_bytes));
  network.both_ways = std::clamp(both_ways_.ns[taken] / one_way_ns, 1.0, 2.0);
  if (taken > 0) network.piece_bytes = both_ways_.bytes[taken];
}

Measured Reader::take() {
  if (!failure_.empty()) throw FailureError("the ranks failed: " + failure_);
  if (measured_.hosts == 1) {
    throw FailureError(
        fmt::format("all {} run on one host, so there is no network to measure; let the launcher "
                    "start ranks on at least two hosts, for example mpirun --host a:2,b:2 -n 4",
                    counted(measured_.ranks, "rank")));
  }
  if (!is_done_) {
    throw FailureError(fmt::format("the ranks ended early; output of the launcher: {}",
                                   last_lines_.empty() ? "none" : last_lines_));
  }
  machine::Network& network = measured_.network;
  network.name = measured_.mpi;
  network.origin = machine::Origin::measured;
  // The CPU times of both sides are part of a message's time, so each is at most half of it.
  network.cpu_ns = std::min(network.cpu_ns, machine::time_at(network.curve, 0) / 2);
  judge_both_ways();
  return std::move(measured_);
}

Measured measure(const Spawned& command, Watcher& watcher, const std::atomic<bool>& stop) {
  Reader reader(watcher);
  timed_run(command, stop, [&reader](std::string_view more) { reader.read(more); });
  return reader.take();
}

}  // namespace huddle::bench::network
