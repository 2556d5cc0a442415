// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/arithmetic.h"
#include "tools/ucx/score.h"

namespace huddle::ucx {
namespace {

// Settings of the known versions, used if there is no installed UCX that lists its own.
constexpr std::string_view known_settings[] = {"UCX_CMA_BW",
                                               "UCX_KNEM_BW",
                                               "UCX_XPMEM_BW",
                                               "UCX_POSIX_BW",
                                               "UCX_SYSV_BW",
                                               "UCX_MAX_RNDV_RAILS",
                                               "UCX_MULTI_LANE_MAX_RATIO",
                                               "UCX_IB_PCI_RELAXED_ORDERING"};
// Margin by which the ratio excludes a card, so that UCX's rounding does not include it.
constexpr double room = 0.95;

std::string gb_text(double bytes_per_s) { return fmt::format("{:.2f} GB/s", bytes_per_s / 1e9); }

std::string bandwidth_value(double bytes_per_s) {
  return fmt::format("{:.0f}MBps", bytes_per_s / ucx_mb);
}

// Reads "11145.00MBps", as UCX prints and reads it; returns nothing for "auto".
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

// UCX's name of the loopback device, which TCP uses within a node.
constexpr std::string_view loopback_device = "lo";

// A transport between processes of one node, the setting for its bandwidth, and the corresponding
// way of moving data in the machine file.
struct Transport {
  std::string_view name;
  std::string_view setting;
  std::string_view way;
};
constexpr Transport transports[] = {{"cma", "UCX_CMA_BW", "cma"},
                                    {"knem", "UCX_KNEM_BW", "knem"},
                                    {"xpmem", "UCX_XPMEM_BW", "xpmem"},
                                    {"posix", "UCX_POSIX_BW", shared_memory},
                                    {"sysv", "UCX_SYSV_BW", shared_memory}};

class Adviser {
 public:
  Adviser(const machine::CostModel& model, const Question& question)
      : model_(model), machine_(model.machine()), question_(question) {}

  Advice advice() {
    leave_ranks_to_the_mpi();
    add_rates();
    keep_network_out();
    suggest_rails();
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

  void add(Setting setting) { add_to(advice_.settings, std::move(setting)); }

  void add_to(std::vector<Setting>& list, Setting setting) {
    if (is_users_own(setting.name)) {
      omit(setting.name, "you have set it, and your value is kept");
    } else if (!has(setting.name)) {
      omit(setting.name, fmt::format("UCX {} does not have it", text_of(question_.version)));
    } else {
      list.push_back(std::move(setting));
    }
  }

  void leave_ranks_to_the_mpi() {
    omit("UCX_NUM_PPN",
         "UCX receives the number of ranks per node from the MPI, for each job; a fixed number "
         "would be wrong for every other job, and divide a card's rate by too many ranks");
  }

  std::optional<double> rate_by(std::string_view way) const {
    const double ns = communication_cost_ns(model_, way, judged_bytes, question_.ranks);
    if (!std::isfinite(ns) || ns <= 0) return std::nullopt;
    return judged_bytes / ns * ns_per_s;
  }

  std::string origin_of(std::string_view way) const {
    for (const machine::PathCurve& curve : machine_.paths) {
      if (curve.path == way) {
        return std::string(machine::origin_names[static_cast<std::size_t>(curve.origin)]);
      }
    }
    return "";
  }

  // Returns whether UCX has this transport here. Without UCX, the machine file decides.
  bool is_here(const Transport& transport) const {
    if (question_.library == nullptr) {
      return transport.way == shared_memory || rate_by(transport.way).has_value();
    }
    const auto& devices = question_.library->devices;
    return std::any_of(devices.begin(), devices.end(),
                       [&](const Device& device) { return device.transport == transport.name; });
  }

  // Returns whether UCX will use a measured bandwidth, or the user's, for this transport.
  bool is_known(const Transport& transport) const {
    return is_users_own(transport.setting) ||
           (rate_by(transport.way).has_value() && has(transport.setting));
  }

  bool is_divided_by_ranks(const Transport& transport) const {
    return transport.name == "knem" && question_.version < knem_is_each_ranks_own;
  }

  // Returns the rate in bytes/s that UCX assumes for one rank without settings; 0 if unknown.
  double assumed_rate(const Transport& transport) const {
    if (is_users_own(transport.setting)) {
      const auto own = bandwidth_from(default_of(transport.setting));
      if (own) return is_divided_by_ranks(transport) ? *own / question_.ranks : *own;
    }
    if (question_.library != nullptr) {
      for (const Device& device : question_.library->devices) {
        if (device.transport == transport.name) return rate_of_rank(device);
      }
    }
    for (const RatedPath& one : shipped_ratings(question_.version)) {
      if (one.path == transport.name) return rate_of(one.rating, question_.ranks);
    }
    return 0;
  }

  double rate_of_rank(const Device& device) const {
    return device.dedicated_bytes_per_s +
           device.shared_bytes_per_s / ranks_divided_by(question_.version, question_.ranks);
  }

  // A measured rate for one transport and UCX's constant for another would send messages over the
  // other, regardless of its real rate. Hence all transports get a figure, or none.
  void add_rates() {
    std::string unknown;
    for (const Transport& transport : transports) {
      if (!is_here(transport) || is_known(transport)) continue;
      unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", transport.name);
    }
    for (const Transport& transport : transports) {
      const auto rate = rate_by(transport.way);
      if (rate) fastest_rate_ = std::max(fastest_rate_, *rate);
      if (!is_here(transport)) {
        if (transport.name == "cma") omit(transport.setting, "cma is not available here");
        continue;
      }
      const bool is_written = unknown.empty() && !is_users_own(transport.setting);
      if (transport.way != shared_memory) {
        believed_rate_ = std::max(believed_rate_, is_written ? *rate : assumed_rate(transport));
      }
      if (unknown.empty() || is_users_own(transport.setting)) {
        add_rate(transport, rate.value_or(0));
      } else {
        omit(transport.setting, why_unknown(transport, unknown));
      }
    }
  }

  std::string why_unknown(const Transport& transport, const std::string& unknown) const {
    if (!rate_by(transport.way)) return "the machine file has no figure for " + name_of(transport);
    if (!has(transport.setting)) {
      return fmt::format("UCX {} does not have it", text_of(question_.version));
    }
    return fmt::format(
        "UCX would compare the measured rate of {} with the constant for {}, which has no measured "
        "rate",
        transport.name, unknown);
  }

  static std::string name_of(const Transport& transport) {
    return std::string(transport.way == shared_memory ? "a block that passes between two cores"
                                                      : transport.name);
  }

  void add_rate(const Transport& transport, double rate) {
    const bool is_shared = is_divided_by_ranks(transport);
    std::string figure =
        fmt::format("{} per rank with {} ranks at once", gb_text(rate), question_.ranks);
    if (transport.way == shared_memory) {
      figure += ", copied in and out";
    } else {
      figure += fmt::format(" by {} ({})", transport.way, origin_of(transport.way));
    }
    if (is_shared) {
      figure += fmt::format(", times {}, because this UCX divides it by the number of ranks",
                            question_.ranks);
    }
    add({std::string(transport.setting), bandwidth_value(is_shared ? rate * question_.ranks : rate),
         std::move(figure), shipped_text(transport),
         "UCX then compares paths by the measured rate per rank"});
  }

  std::string shipped_text(const Transport& transport) const {
    std::string own = default_of(transport.setting);
    if (!own.empty()) return own;
    for (const RatedPath& one : shipped_ratings(question_.version)) {
      if (one.path == transport.name) return bandwidth_value(rate_of(one.rating, 1));
    }
    return "";
  }

  struct Card {
    std::string name;
    double bytes_per_s = 0;  // of one rank, at most
  };

  // Returns the cards with the rates that UCX assumes; without UCX, those of the machine file.
  std::vector<Card> cards() const {
    std::vector<Card> all;
    if (question_.library != nullptr) {
      for (const Device& device : question_.library->devices) {
        if (device.kind != DeviceKind::network) continue;
        all.push_back({device.transport + "/" + device.name, rate_of_rank(device)});
      }
    } else {
      const int sharers = ranks_divided_by(question_.version, question_.ranks);
      for (const machine::Network& network : machine_.networks) {
        all.push_back({network.name, network.node_gb_per_s * 1e9 / sharers});
      }
    }
    return all;
  }

  double shipped_ratio() const {
    return question_.library != nullptr ? lane_ratio(*question_.library)
                                        : shipped_lane_ratio(question_.version);
  }

  // Returns the number of devices over which UCX splits a large message between nodes by its lane
  // ratio.
  int rails() const {
    if (question_.library == nullptr) {
      int most = 0;
      for (const machine::Network& network : machine_.networks)
        most = std::max(most, network.rails);
      return most;
    }
    std::vector<std::pair<std::string, double>> between_nodes;
    double best = 0;
    for (const Device& device : question_.library->devices) {
      if (device.kind != DeviceKind::network || device.name == loopback_device) continue;
      between_nodes.emplace_back(device.name, rate_of_rank(device));
      best = std::max(best, between_nodes.back().second);
    }
    std::vector<std::string> names;
    for (const auto& [name, rate] : between_nodes) {
      if (takes_lane(rate, best, shipped_ratio())) names.push_back(name);
    }
    return count_of_different(std::move(names));
  }

  // UCX sends part of a large message over each lane whose rate is at least that of the best lane
  // divided by this ratio, within a node as well as between nodes.
  void keep_network_out() {
    const std::string_view name = "UCX_MULTI_LANE_MAX_RATIO";
    const std::vector<Card> all = cards();
    const auto card = std::max_element(all.begin(), all.end(), [](const Card& a, const Card& b) {
      return a.bytes_per_s < b.bytes_per_s;
    });
    if (card == all.end() || card->bytes_per_s <= 0) {
      omit(name, "there is no network card");
      return;
    }
    const std::string figure = fmt::format("{} provides at most {} per rank, memory {}", card->name,
                                           gb_text(card->bytes_per_s), gb_text(fastest_rate_));
    const double best = std::min(believed_rate_, fastest_rate_);
    if (card->bytes_per_s >= best) {
      omit(name, figure +
                     ": according to UCX's figures the card is faster, so UCX sends messages "
                     "inside the node through it, and no ratio prevents this; 'huddle ucx --check' "
                     "measures whether it should");
      return;
    }
    const double shipped = shipped_ratio();
    const double ratio = std::clamp(room * believed_rate_ / card->bytes_per_s, 1.0, shipped);
    if (ratio >= shipped) {
      omit(name, fmt::format("{}: with {:g}, messages inside the node do not use the card", figure,
                             shipped));
      return;
    }
    advice_.lane_ratio = ratio;
    const std::string own = default_of(name);
    add_to(rails() > 1 ? advice_.untested : advice_.settings,
           {std::string(name), fmt::format("{:.3f}", ratio), figure,
            own.empty() ? fmt::format("{:g}", shipped) : own,
            "no part of a message inside the node goes through a network card; between nodes, "
            "cards that are slower than the fastest by more than this ratio are no longer used"});
  }

  static int count_of_different(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return static_cast<int>(std::unique(names.begin(), names.end()) - names.begin());
  }

  int infiniband_cards() const {
    if (question_.library == nullptr) return rails();
    std::vector<std::string> names;
    for (const Device& device : question_.library->devices) {
      if (device.kind == DeviceKind::network && is_infiniband(device)) names.push_back(device.name);
    }
    return count_of_different(std::move(names));
  }

  // More rails also use more cards for messages within the node. They are therefore only suggested.
  void suggest_rails() {
    const int count = infiniband_cards();
    if (count < 2) return;
    const std::string figure = fmt::format("{} InfiniBand cards", count);
    add_to(advice_.untested,
           {"UCX_MAX_RNDV_RAILS", std::to_string(count), figure, default_of("UCX_MAX_RNDV_RAILS"),
            "large messages use all cards: between nodes, and also inside the node if UCX uses a "
            "card there"});
    add_to(advice_.untested,
           {"UCX_IB_PCI_RELAXED_ORDERING", "on", figure, default_of("UCX_IB_PCI_RELAXED_ORDERING"),
            "cards may reorder their writes to memory"});
  }

  const machine::CostModel& model_;
  const machine::Machine& machine_;
  const Question& question_;
  double fastest_rate_ = 0;   // measured rate of one rank, maximum over all ways within the node
  double believed_rate_ = 0;  // UCX's figure for the fastest path into a peer's memory
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
