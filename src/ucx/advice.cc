// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "ucx/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "ucx/score.h"
#include "ucx/ways.h"

namespace huddle::ucx {
namespace {

// What these versions have; the others' own listing decides.
constexpr std::string_view known_settings[] = {"UCX_NUM_PPN",        "UCX_CMA_BW",
                                               "UCX_KNEM_BW",        "UCX_POSIX_BW",
                                               "UCX_SYSV_BW",        "UCX_MULTI_LANE_MAX_RATIO",
                                               "UCX_MAX_RNDV_LANES", "UCX_IB_PCI_RELAXED_ORDERING"};
// A card's share stays out with so much room: UCX's own rounding must not let it in.
constexpr double room = 0.95;
constexpr double ns_per_s = 1e9;

std::string gb_text(double bytes_per_s) { return fmt::format("{:.2f} GB/s", bytes_per_s / 1e9); }

std::string bandwidth_value(double bytes_per_s) {
  return fmt::format("{:.0f}MBps", bytes_per_s / ucx_mb);
}

std::optional<double> number_from(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

// "11145.00MBps", as UCX prints and reads it; nothing for "auto".
std::optional<double> bandwidth_from(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::string_view letters = "KMGT";
  double factor = 1;
  for (const char letter : letters) {
    factor *= 1024;
    if (unit.starts_with(letter)) return number * factor;
  }
  return number;
}

bool is_infiniband(const Device& device) {
  return device.transport.starts_with("rc") || device.transport.starts_with("dc") ||
         device.transport.starts_with("ud");
}

class Adviser {
 public:
  Adviser(const machine::CostModel& model, const Question& question)
      : model_(model), machine_(model.machine()), question_(question) {}

  Advice advice() {
    add({"UCX_NUM_PPN", std::to_string(question_.ranks), "ranks of one node",
         default_of("UCX_NUM_PPN"), "what ranks share is divided by as many"});
    add_paths();
    add_copies();
    keep_network_out();
    add_rails();
    advice_.believed_bytes_per_s = believed_rate_;
    return std::move(advice_);
  }

 private:
  bool has(std::string_view name) const {
    if (question_.library != nullptr) return question_.library->settings.count(name) > 0;
    return std::find(std::begin(known_settings), std::end(known_settings), name) !=
           std::end(known_settings);
  }

  std::string default_of(std::string_view name) const {
    if (question_.library == nullptr) return "";
    const auto found = question_.library->settings.find(name);
    return found == question_.library->settings.end() ? "" : found->second;
  }

  void omit(std::string_view name, std::string why) {
    advice_.omitted.push_back({std::string(name), std::move(why)});
  }

  bool is_users_own(std::string_view name) const {
    const auto& own = question_.users_own;
    return std::find(own.begin(), own.end(), name) != own.end();
  }

  void add(Setting setting) {
    if (is_users_own(setting.name)) {
      omit(setting.name, "you have set it yourself: yours is kept");
    } else if (!has(setting.name)) {
      omit(setting.name, fmt::format("UCX {} does not have it", text_of(question_.version)));
    } else {
      advice_.settings.push_back(std::move(setting));
    }
  }

  std::optional<double> rate_by(std::string_view path) const {
    const double ns = way_ns(model_, path, judged_bytes, question_.ranks);
    if (!std::isfinite(ns) || ns <= 0) return std::nullopt;
    return judged_bytes / ns * ns_per_s;
  }

  std::string origin_of(std::string_view path) const {
    for (const machine::PathCurve& curve : machine_.paths) {
      if (curve.path == path) {
        return std::string(machine::origin_names[static_cast<std::size_t>(curve.origin)]);
      }
    }
    return "";
  }

  void add_paths() {
    for (const auto& [path, rating] : shipped_ratings(question_.version)) {
      const std::string name = path == "cma" ? "UCX_CMA_BW" : "UCX_KNEM_BW";
      const auto rate = rate_by(path);
      if (!rate) {
        omit(name, fmt::format("the machine file has no path '{}'", path));
        continue;
      }
      fastest_rate_ = std::max(fastest_rate_, *rate);
      const auto own = is_users_own(name) ? bandwidth_from(default_of(name)) : std::nullopt;
      believed_rate_ = std::max(believed_rate_, own.value_or(*rate));
      const bool is_shared = rating.shared_bytes_per_s > 0;
      const double value = is_shared ? *rate * question_.ranks : *rate;
      add({name, bandwidth_value(value),
           fmt::format(
               "{} a rank by {}, {} ranks at once ({}){}", gb_text(*rate), path, question_.ranks,
               origin_of(path),
               is_shared ? fmt::format(", times {}: this UCX divides it by ranks", question_.ranks)
                         : ""),
           shipped_text(name, rating), "paths are compared by what ranks get"});
    }
  }

  std::string shipped_text(const std::string& name, const Rating& rating) const {
    const std::string own = default_of(name);
    return own.empty() ? bandwidth_value(rating.dedicated_bytes_per_s + rating.shared_bytes_per_s)
                       : own;
  }

  void add_copies() {
    const auto found = rate_by(shared_memory);
    if (!found) {
      omit("UCX_POSIX_BW", "the machine file does not say how a block passes between two cores");
      return;
    }
    const double rate = *found;
    fastest_rate_ = std::max(fastest_rate_, rate);
    for (const std::string_view name : {"UCX_POSIX_BW", "UCX_SYSV_BW"}) {
      add({std::string(name), bandwidth_value(rate),
           fmt::format("{} a rank copied in and out, {} ranks at once", gb_text(rate),
                       question_.ranks),
           default_of(name), "paths are compared by what ranks get"});
    }
  }

  struct Card {
    std::string name;
    double bytes_per_s = 0;  // of one rank, at most
  };

  // The fastest card by what UCX takes it for, or what the machine file's carry at most.
  std::optional<Card> fastest_card() const {
    std::optional<Card> fastest;
    const auto consider = [&](std::string name, double rate) {
      if (!fastest || rate > fastest->bytes_per_s) fastest = Card{std::move(name), rate};
    };
    if (question_.library != nullptr) {
      for (const Device& device : question_.library->devices) {
        if (device.kind != DeviceKind::network) continue;
        consider(
            device.transport + "/" + device.name,
            rate_of({device.dedicated_bytes_per_s, device.shared_bytes_per_s, 0}, question_.ranks));
      }
    } else {
      for (const machine::Network& network : machine_.networks) {
        consider(network.name, network.node_gb_per_s * 1e9 / question_.ranks);
      }
    }
    return fastest;
  }

  // UCX sends part of a large message by each lane whose rate is not below the best lane's over
  // this ratio.
  void keep_network_out() {
    const std::string_view name = "UCX_MULTI_LANE_MAX_RATIO";
    const auto card = fastest_card();
    if (!card || card->bytes_per_s <= 0) {
      omit(name, "there is no network card");
      return;
    }
    const std::string figure = fmt::format("{} gives a rank {} at most, memory {}", card->name,
                                           gb_text(card->bytes_per_s), gb_text(fastest_rate_));
    if (card->bytes_per_s >= fastest_rate_) {
      omit(name, figure + ": the card is the faster, and left in");
      return;
    }
    const std::string own = default_of(name);
    const double shipped = number_from(own).value_or(oldest_lane_ratio);
    const double ratio = std::clamp(room * believed_rate_ / card->bytes_per_s, 1.0, shipped);
    if (ratio >= shipped) {
      omit(name, fmt::format("{}: with {} it stays out of the node", figure, shipped));
      return;
    }
    advice_.lane_ratio = ratio;
    add({std::string(name), fmt::format("{:.3f}", ratio), figure,
         own.empty() ? fmt::format("{:g}", shipped) : own,
         "no part of a message inside the node goes through a network card"});
  }

  int infiniband_cards() const {
    if (question_.library == nullptr) {
      int rails = 0;
      for (const machine::Network& network : machine_.networks)
        rails = std::max(rails, network.rails);
      return rails;
    }
    std::vector<std::string> names;
    for (const Device& device : question_.library->devices) {
      if (device.kind == DeviceKind::network && is_infiniband(device)) names.push_back(device.name);
    }
    std::sort(names.begin(), names.end());
    return static_cast<int>(std::unique(names.begin(), names.end()) - names.begin());
  }

  void add_rails() {
    const int cards = infiniband_cards();
    if (cards < 2) return;
    const std::string figure = fmt::format("{} InfiniBand cards; not verified here", cards);
    const bool is_new = question_.library != nullptr && has("UCX_MAX_RNDV_RAILS");
    const std::string name = is_new ? "UCX_MAX_RNDV_RAILS" : "UCX_MAX_RNDV_LANES";
    add({name, std::to_string(cards), figure, default_of(name),
         "large messages between nodes use all cards"});
    add({"UCX_IB_PCI_RELAXED_ORDERING", "on", figure, default_of("UCX_IB_PCI_RELAXED_ORDERING"),
         "cards may reorder what they write to memory"});
  }

  const machine::CostModel& model_;
  const machine::Machine& machine_;
  const Question& question_;
  double fastest_rate_ = 0;   // of one rank, over all ways inside the node
  double believed_rate_ = 0;  // what UCX will take the fastest path into a peer's memory for
  Advice advice_;
};

}  // namespace

Advice advise(const machine::CostModel& model, const Question& question) {
  return Adviser(model, question).advice();
}

std::vector<std::string> lines_of(const std::vector<Setting>& settings) {
  std::vector<std::string> lines;
  for (const Setting& setting : settings) lines.push_back(setting.name + "=" + setting.value);
  return lines;
}

}  // namespace huddle::ucx
