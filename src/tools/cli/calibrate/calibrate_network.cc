// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/settings/settings.h"
#include "common/text.h"
#include "tools/bench/mpi/mpi_job.h"
#include "tools/bench/network/result_lines.h"
#include "tools/cli/calibrate/calibrate_report.h"
#include "tools/cli/progress.h"
#include "tools/cli/terminal_text.h"
#include "tools/launch/preload.h"

namespace huddle::cli {
namespace {

namespace network = bench::network;

std::vector<std::string> steps() {
  std::vector<std::string> names = {std::string(network::step_messages),
                                    std::string(network::step_both),
                                    std::string(network::step_senders)};
  for (const std::string_view name : machine::collective_names) {
    names.push_back("the MPI's " + std::string(name));
  }
  return names;
}

class NetworkProgress : public network::Watcher {
 public:
  explicit NetworkProgress(const Console& console)
      : steps_(steps()), progress_(console, steps_.size()) {}

  void begin_step(std::string_view /*name*/) override {
    if (step_ == steps_.size()) return;
    progress_.begin_step(steps_[step_]);
    progress_.update(static_cast<double>(step_) / static_cast<double>(steps_.size()));
    ++step_;
  }
  std::size_t step() const { return step_; }
  std::size_t steps_in_all() const { return steps_.size(); }
  void finish() { progress_.finish(); }

 private:
  std::vector<std::string> steps_;
  Progress progress_;
  std::size_t step_ = 0;
};

template <std::size_t n>
std::string sizes_text(const std::array<std::size_t, n>& sizes) {
  std::vector<std::string> words;
  for (const std::size_t size : sizes) words.push_back(size_text(static_cast<double>(size)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string call_sizes(bool quick) {
  return quick ? sizes_text(network::quick_call_bytes) : sizes_text(network::call_bytes);
}

}  // namespace

bench::Spawned network_command(const NetworkOptions& options) {
  if (options.launcher.empty()) {
    throw UsageError(
        "a launcher that starts ranks on several nodes is required, for example: huddle calibrate "
        "--network mpirun --host a:2,b:2 -n 4");
  }
  const char* path = std::getenv("PATH");
  const bench::Mpi mpi =
      bench::find_mpi(options.launcher.front(), options.mpi_library, path == nullptr ? "" : path);
  std::error_code error;
  const std::string own = std::filesystem::read_symlink("/proc/self/exe", error).string();
  std::vector<std::string> words = options.launcher;
  words.front() = mpi.launcher.front();
  words.push_back(fmt::format("{}/huddle-network-{}", launch::find_library(own).folder, mpi.abi));
  words.push_back(mpi.library);
  if (options.quick) words.emplace_back("quick");
  return {.program = words.front(),
          .words = words,
          .environment = settings::process_sources().environment};
}

ExitCode show_network_plan(const Context& context, const NetworkOptions& options) {
  const bench::Spawned command = network_command(options);
  if (options.json) {
    context.console.print(network_plan_json(steps(), command.words, options.quick));
    return ExitCode::fine;
  }
  const int columns = context.console.columns;
  std::string text = wrap(
      "", "Steps of the measurement between nodes, which takes about half a minute:", 0, columns);
  text += wrap("  ",
               "messages of " + sizes_text(network::message_bytes) +
                   ", one rank sending: latency, rate, CPU time",
               4, columns);
  text += wrap("  ", "messages, two ranks sending to each other: undivided, or the best piece size",
               4, columns);
  text +=
      wrap("  ", "messages, all ranks of a node sending: gap between messages, rate of the node", 4,
           columns);
  text += wrap("  ",
               fmt::format("the MPI's own {}, with {}", fmt::join(machine::collective_names, ", "),
                           call_sizes(options.quick)),
               4, columns);
  text += wrap("command: ", fmt::format("{}", fmt::join(command.words, " ")), 2, columns);
  context.console.print(text);
  return ExitCode::fine;
}

network::Measured measure_network(const Context& context, const NetworkOptions& options) {
  const bench::Spawned command = network_command(options);
  const Interrupt interrupt;
  NetworkProgress watcher(context.console);
  try {
    network::Measured measured = network::measure(command, watcher, interrupt.requested());
    watcher.finish();
    return measured;
  } catch (const bench::Stopped&) {
    context.console.note(fmt::format("huddle: {} in step {} of {}; nothing was written",
                                     interrupt.signal_name(), watcher.step(),
                                     watcher.steps_in_all()));
    interrupt.die();
  }
}

void keep_network(machine::Machine& machine, const network::Measured& measured) {
  machine.networks = {measured.network};
  std::erase_if(machine.mpi_collectives, [&](const machine::MpiCollective& one) {
    return one.mpi == measured.mpi && one.hosts == measured.hosts && one.ranks == measured.ranks &&
           one.in_order == measured.in_order;
  });
  machine.mpi_collectives.insert(machine.mpi_collectives.end(), measured.collectives.begin(),
                                 measured.collectives.end());
}

std::string network_text(const network::Measured& measured, int columns) {
  const machine::Network& network = measured.network;
  std::string text =
      wrap("",
           fmt::format("{}, {} on {}{}", printable(measured.mpi), counted(measured.ranks, "rank"),
                       counted(measured.hosts, "host"),
                       measured.in_order ? "" : ", ranks of a host not consecutive"),
           2, columns);
  Table messages({"message", "one way", "GB/s"}, {});
  for (std::size_t i = 0; i < network.curve.bytes.size(); ++i) {
    messages.add({size_text(network.curve.bytes[i]), time_text(network.curve.ns[i]),
                  fmt::format("{:.3g}", network.curve.bytes[i] / network.curve.ns[i])});
  }
  text += "\n" + messages.text(columns);
  text +=
      wrap("",
           fmt::format("All ranks of a node sending: {} between messages, {:.3g} GB/s. A message "
                       "takes {} of CPU time.",
                       time_text(network.gap_ns), network.node_gb_per_s, time_text(network.cpu_ns)),
           0, columns);
  Table calls({"the MPI's own", "bytes", "time"}, {});
  for (const machine::MpiCollective& one : measured.collectives) {
    for (std::size_t i = 0; i < one.curve.bytes.size(); ++i) {
      const bool moves = one.operation != machine::collective_names.front();
      calls.add({i == 0 ? one.operation : "", moves ? size_text(one.curve.bytes[i]) : "-",
                 time_text(one.curve.ns[i])});
    }
  }
  return text + "\n" + calls.text(columns);
}

}  // namespace huddle::cli
