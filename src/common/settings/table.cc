// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The table of settings, and the functions that need only one row of it.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>

#include "common/error.h"
#include "common/forced_choice.h"
#include "common/settings/settings.h"
#include "common/system.h"
#include "common/text.h"

namespace huddle::settings {
namespace {

// MPI's blocking collectives by their names in HUDDLE_OPS.
constexpr std::array<std::string_view, 17> collectives = {"barrier",
                                                          "bcast",
                                                          "reduce",
                                                          "allreduce",
                                                          "gather",
                                                          "gatherv",
                                                          "scatter",
                                                          "scatterv",
                                                          "allgather",
                                                          "allgatherv",
                                                          "alltoall",
                                                          "alltoallv",
                                                          "alltoallw",
                                                          "scan",
                                                          "exscan",
                                                          "reduce_scatter",
                                                          "reduce_scatter_block"};

constexpr std::array settings_table = {
    Setting{.key = "huddle",
            .kind = Kind::toggle,
            .placeholder = "on|off",
            .fallback = "on",
            .help = "off: run every collective in the MPI"},
    Setting{.key = "machine",
            .kind = Kind::machine,
            .placeholder = "NAME|FILE",
            .fallback = "",
            .help = "the machine model: a machine file, or a name in 'huddle topo --list-machines' "
                    "(default: the file of this machine)"},
    Setting{.key = "ops",
            .kind = Kind::list,
            .placeholder = "OP,...|^OP,...",
            .fallback = "",
            .help = "the collectives that huddle handles; ^OP,...: all except these (default: all "
                    "that it supports)",
            .names = collectives},
    Setting{.key = "algo",
            .kind = Kind::forcing,
            .placeholder = "OP[:SIZE-SIZE]:NAME,...",
            .fallback = "",
            .help = "algorithms to run instead of those with the shortest predicted time, with the "
                    "names that 'huddle explain' prints: bcast:pipelined,allreduce:4K-1M:slices; "
                    "the first entry that matches a call applies",
            .algorithms = algorithm_words},
    Setting{.key = "stats",
            .kind = Kind::output,
            .placeholder = "off|on|FILE.json",
            .fallback = "off",
            .help = "print a table of the handled collectives, their times and the fallback "
                    "reasons when the program ends, or write them to a file, which 'huddle report' "
                    "draws"},
    Setting{.key = "summary",
            .kind = Kind::toggle,
            .placeholder = "auto|off|on|times",
            .fallback = "auto",
            .help = "print the number of handled collectives when the program ends (auto: if "
                    "'huddle run' writes to a terminal; times: also time every collective, and "
                    "print their share of the run time)"},
    Setting{.key = "verify",
            .kind = Kind::toggle,
            .placeholder = "off|on",
            .fallback = "off",
            .help = "also run each collective in the MPI, and compare the results"},
    Setting{.key = "tune",
            .kind = Kind::output,
            .placeholder = "on|off|any-order|FILE.json",
            .fallback = "on",
            .help = "let measured times decide which algorithm of huddle, or the MPI, runs the "
                    "calls of a size (any-order: also let the MPI run floating-point reductions, "
                    "whose last digits may then differ; FILE.json: store the results for the next "
                    "run)"},
    Setting{.key = "tune-after",
            .kind = Kind::count,
            .placeholder = "auto|CALLS",
            .fallback = "auto",
            .help = "number of calls of a size after which algorithms of huddle and the MPI are "
                    "compared (auto: when the calls have taken much longer than that costs)"},
    Setting{.key = "activate-after",
            .kind = Kind::count,
            .placeholder = "auto|CALLS",
            .fallback = "auto",
            .help = "number of collectives that a communicator runs in the MPI before huddle "
                    "handles them (auto: until the expected savings exceed the cost of set-up, or "
                    "a team of the same ranks already exists)"},
    Setting{.key = "net",
            .kind = Kind::toggle,
            .placeholder = "measured|auto|on|off",
            .fallback = "measured",
            .help =
                "handle collectives over several nodes, if every rank of the job is known to run "
                "huddle (measured: if 'huddle calibrate --network' has measured the network; auto: "
                "also without a measurement; on: also if the launcher cannot report which ranks "
                "run huddle, as those of Open MPI 4, MPICH and Intel MPI can)"},
    Setting{.key = "net-algo",
            .kind = Kind::forcing,
            .placeholder = "OP:NAME,...",
            .fallback = "",
            .help = "algorithms to run between nodes instead of those with the shortest predicted "
                    "time, with the names that 'huddle schedule' prints: "
                    "bcast:chain,allreduce:halving; such calls do not fall back to a faster MPI",
            .algorithms = schedule_words},
    Setting{.key = "net-leaders",
            .kind = Kind::count,
            .placeholder = "auto|COUNT",
            .fallback = "auto",
            .help = "number of ranks of each node that share the data of an allreduce or a "
                    "broadcast over several nodes, at most the ranks of the smallest node (auto: "
                    "the number with the shortest predicted time)",
            .least = 1},
    Setting{.key = "heap",
            .kind = Kind::word,
            .placeholder = "off|on|auto|check",
            .fallback = "off",
            .help = "allocate the large arrays of ranks in shared memory, so that ranks can access "
                    "each other's (auto: if it pays off according to calibration; check: look for "
                    "errors in how the program and huddle use them)"},
    Setting{.key = "heap-threshold",
            .kind = Kind::size,
            .placeholder = "SIZE",
            .fallback = "64K",
            .help = "smallest array that is allocated in the shared heap"},
    Setting{.key = "heap-limit",
            .kind = Kind::size,
            .placeholder = "SIZE",
            .fallback = "64G",
            .help = "maximum size of a rank's shared heap"},
    Setting{.key = "heap-fork-limit",
            .kind = Kind::size,
            .placeholder = "SIZE",
            .fallback = "1G",
            .help =
                "maximum size of the copies of shared arrays in all living children of fork(); a "
                "process with more stops sharing its arrays"},
    Setting{
        .key = "threads",
        .kind = Kind::word,
        .placeholder = "off|watch|move",
        .fallback = "off",
        .help =
            "for programs under 'huddle run' whose threads use the same memory: report these "
            "threads when the program ends (watch), or also move them close to each other (move)"},
    Setting{.key = "color",
            .kind = Kind::word,
            .placeholder = "auto|always|never",
            .fallback = "auto",
            .help = "use colors (auto: in a terminal, unless NO_COLOR is set)",
            .flag_everywhere = true},
    Setting{.key = "unicode",
            .kind = Kind::word,
            .placeholder = "auto|always|never",
            .fallback = "auto",
            .help = "print characters beyond ASCII (auto: if the locale is UTF-8)",
            .flag_everywhere = true},
    Setting{.key = "progress",
            .kind = Kind::word,
            .placeholder = "auto|always|never",
            .fallback = "auto",
            .help = "show progress bars (auto: in a terminal)",
            .flag_everywhere = true},
};

std::vector<std::string> allowed_words(const Setting& setting) {
  std::vector<std::string> words(1);
  for (const char c : setting.placeholder) {
    if (c == '|') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// Returns the words as "auto, always or never".
std::string listed(const std::vector<std::string>& words) {
  std::string text = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) {
    text += (i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return text;
}

void check_word(const Setting& setting, std::string_view value, const std::string& where) {
  const std::vector<std::string> words = allowed_words(setting);
  if (std::find(words.begin(), words.end(), value) != words.end()) return;
  throw InputError(fmt::format("{} must be {}, not '{}'{}", where, listed(words), value,
                               did_you_mean(value, words)));
}

void check_output(const Setting& setting, std::string_view value, const std::string& where) {
  if (value.ends_with(output_suffix)) return;
  check_word(setting, value, where);
}

constexpr char all_but = '^';

// Returns the elements of a list without the leading '^'.
std::vector<std::string_view> items_of(std::string_view list) {
  if (list.starts_with(all_but)) list.remove_prefix(1);
  return split(list, ',');
}

void check_list(const Setting& setting, std::string_view value, const std::string& where) {
  if (value.empty()) return;
  const std::vector<std::string> names(setting.names.begin(), setting.names.end());
  for (const std::string_view item : items_of(value)) {
    const std::string name = collective_word(item);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string guess = did_you_mean(name, names);
    throw InputError(fmt::format("{}: unknown word '{}'{}", where, item,
                                 guess.empty() ? "; use " + listed(names) : guess));
  }
}

std::string plain_list(std::string_view value) {
  std::string text = value.starts_with(all_but) ? "^" : "";
  for (const std::string_view item : items_of(value)) {
    if (text.size() > 1) text += ',';
    text += collective_word(item);
  }
  return text;
}

void check_count(const Setting& setting, std::string_view value, const std::string& where) {
  const bool knows_auto = setting.placeholder.starts_with("auto|");
  const bool is_enough = whole_number(value).value_or(-1) >= setting.least;
  if (is_enough || (knows_auto && value == "auto")) return;
  throw InputError(
      fmt::format("{} must be a whole number{}{}, not '{}'", where,
                  setting.least > 0 ? fmt::format(" of at least {}", setting.least) : "",
                  knows_auto ? " or auto" : "", value));
}

void check_forced(const ForcedChoice& choice, std::span<const AlgorithmWords> all) {
  std::vector<std::string> operations;
  for (const AlgorithmWords& words : all) {
    operations.emplace_back(words.operation);
    if (words.operation != choice.operation) continue;
    const std::vector<std::string> algorithms(words.algorithms.begin(), words.algorithms.end());
    if (std::find(algorithms.begin(), algorithms.end(), choice.algorithm) == algorithms.end()) {
      const std::string guess = did_you_mean(choice.algorithm, algorithms);
      throw InputError(fmt::format("{} has no algorithm '{}'{}", choice.operation, choice.algorithm,
                                   guess.empty() ? "; use " + listed(algorithms) : guess));
    }
    if (choice.has_range() && !words.has_size) {
      throw InputError(
          fmt::format("the algorithm of {} does not depend on the size: remove the range of sizes",
                      choice.operation));
    }
    return;
  }
  const std::string guess = did_you_mean(choice.operation, operations);
  throw InputError(fmt::format("unknown collective '{}'{}", choice.operation,
                               guess.empty() ? "; use " + listed(operations) : guess));
}

void check_forcing(const Setting& setting, std::string_view value, const std::string& where) {
  try {
    for (const ForcedChoice& choice : forced_choices(value)) {
      check_forced(choice, setting.algorithms());
    }
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

void check_size(std::string_view value, const std::string& where) {
  if (size_from(value)) return;
  throw InputError(fmt::format("{} must be a size such as 64K, not '{}'", where, value));
}

}  // namespace

std::span<const Setting> table() { return settings_table; }

const Setting& setting_named(std::string_view key) {
  const auto found = std::find_if(settings_table.begin(), settings_table.end(),
                                  [key](const Setting& setting) { return setting.key == key; });
  assert(found != settings_table.end());
  return *found;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  for (const Setting& setting : settings_table) keys.emplace_back(setting.key);
  return keys;
}

std::string environment_name(std::string_view key) {
  if (key == "huddle") return "HUDDLE";
  std::string name = "HUDDLE_";
  for (const char c : key) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string flag_name(std::string_view key) { return "--" + std::string(key); }

std::string plain_value(const Setting& setting, std::string_view value) {
  const bool is_switch = setting.kind == Kind::toggle || setting.kind == Kind::output;
  if (is_switch && value == "1") return "on";
  if (is_switch && value == "0") return "off";
  if (setting.kind == Kind::list) return plain_list(value);
  return std::string(value);
}

void check_value(const Setting& setting, std::string_view value, const std::string& where) {
  switch (setting.kind) {
    case Kind::machine:
      return;
    case Kind::count:
      return check_count(setting, value, where);
    case Kind::size:
      return check_size(value, where);
    case Kind::word:
    case Kind::toggle:
      return check_word(setting, plain_value(setting, value), where);
    case Kind::output:
      return check_output(setting, plain_value(setting, value), where);
    case Kind::list:
      return check_list(setting, value, where);
    case Kind::forcing:
      return check_forcing(setting, value, where);
  }
}

namespace {

constexpr std::string_view of_barrier[] = {"dissemination", "tree"};
constexpr std::string_view of_bcast[] = {"inline", "pipelined", "segmented", "direct"};
constexpr std::string_view of_reduce[] = {"exchange", "blocks", "slices", "direct"};
constexpr std::string_view of_allreduce[] = {"exchange", "blocks", "slices", "direct"};
constexpr std::string_view of_reduction_to_blocks[] = {"exchange", "slices", "direct"};
constexpr std::string_view of_prefixes[] = {"exchange", "slices"};
constexpr std::string_view of_allgather[] = {"slots", "doubling", "direct"};
constexpr std::string_view of_alltoall[] = {"slots", "pairwise", "direct"};
constexpr std::string_view of_gather[] = {"slots", "pairwise", "announced", "direct", "pushed"};
constexpr std::string_view of_scatter[] = {"slots", "pairwise", "announced", "direct"};
constexpr std::string_view of_uneven[] = {"announced", "pairwise"};

constexpr std::array<AlgorithmWords, 17> words = {{
    {"barrier", of_barrier, false},
    {"bcast", of_bcast},
    {"reduce", of_reduce},
    {"allreduce", of_allreduce},
    {"gather", of_gather},
    {"gatherv", of_uneven, false},
    {"scatter", of_scatter},
    {"scatterv", of_uneven, false},
    {"allgather", of_allgather},
    {"allgatherv", of_allgather},
    {"alltoall", of_alltoall},
    {"alltoallv", of_uneven, false},
    {"alltoallw", of_uneven, false},
    {"scan", of_prefixes},
    {"exscan", of_prefixes},
    {"reduce_scatter", of_reduction_to_blocks},
    {"reduce_scatter_block", of_reduction_to_blocks},
}};

constexpr std::string_view between_barrier[] = {"dissemination"};
constexpr std::string_view between_bcast[] = {"knomial", "chain", "scatter-ring",
                                              "scatter-doubling", "circulant"};
constexpr std::string_view between_reduce[] = {"binomial"};
constexpr std::string_view between_allreduce[] = {"doubling", "halving", "slices"};
constexpr std::string_view between_gather[] = {"knomial"};
constexpr std::string_view between_allgather[] = {"ring",  "neighbor", "doubling",
                                                  "bruck", "sparbit",  "far-first"};
constexpr std::string_view between_alltoall[] = {"spread", "pairwise", "bruck"};
constexpr std::string_view between_prefixes[] = {"doubling"};
constexpr std::string_view between_reduce_scatter[] = {"halving", "slices"};

constexpr std::array<AlgorithmWords, 10> words_between = {{
    {"barrier", between_barrier, false},
    {"bcast", between_bcast, false},
    {"reduce", between_reduce, false},
    {"allreduce", between_allreduce, false},
    {"gather", between_gather, false},
    {"scatter", between_gather, false},
    {"allgather", between_allgather, false},
    {"alltoall", between_alltoall, false},
    {"exscan", between_prefixes, false},
    {"reduce_scatter", between_reduce_scatter, false},
}};

}  // namespace

std::span<const AlgorithmWords> algorithm_words() { return words; }

std::span<const AlgorithmWords> schedule_words() { return words_between; }

}  // namespace huddle::settings
