// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/node_context.h"

#include <fmt/format.h>

#include <future>
#include <utility>

#include "common/error.h"
#include "common/without_signals.h"
#include "model/machine/machine_file.h"
#include "runtime/heap/start.h"

namespace huddle::mpi {
namespace {

// Parses on a thread of its own, if there can be one: the parser takes 14 KiB of stack, and threads
// of programs may have little.
machine::Machine parsed(const std::string& machine_text) {
  const WithoutSignals without_signals;
  const auto parse = [&] {
    return machine::parse_machine(machine_text, "the machine of the first rank");
  };
  return std::async(std::launch::async | std::launch::deferred, parse).get();
}

}  // namespace

NodeContext::NodeContext(const Options& options, std::function<void()> progress, int ranks_here,
                         Complain warn)
    : options_(options),
      progress_(std::move(progress)),
      ranks_here_(ranks_here),
      warn_(std::move(warn)) {}

bool NodeContext::is_there() const {
  const std::lock_guard lock(mutex_);
  return context_ != nullptr;
}

team::Context& NodeContext::get() const {
  const std::lock_guard lock(mutex_);
  return *context_;
}

void NodeContext::start_heap(const Complain& complain) {
  // Left open, it is the launcher's to say, who has asked what was measured here: by preloading it.
  if (options_.heap == "off") return;
  const heap::Started started = heap::start(options_.heap_wish);
  if (!started.refusal.empty()) complain("heap: " + started.refusal);
  if (started.refusal.empty() && !started.facts && options_.heap == "on") {
    complain("heap: libhuddle_heap.so is not preloaded, as `huddle run` would have done");
  }
  const std::lock_guard lock(mutex_);
  heap_ = started.facts;
}

std::optional<memory::HeapFacts> NodeContext::heap() const {
  const std::lock_guard lock(mutex_);
  return heap_;
}

void NodeContext::begin_to_look() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!context_ && !look_) look_ = std::make_unique<MachineDiscovery>(options_.machine_file);
  } catch (const std::exception&) {
    return;  // it is tried again when the text is wanted
  }
}

std::string NodeContext::machine_text() {
  const std::lock_guard lock(mutex_);
  if (context_) return context_->machine_text();
  try {
    const auto look = look_ ? std::exchange(look_, nullptr)
                            : std::make_unique<MachineDiscovery>(options_.machine_file);
    return look->text();
  } catch (const FailureError& error) {
    warn_(fmt::format("{}; collectives go to the MPI ('huddle doctor' shows why)", error.what()));
    throw;
  }
}

void NodeContext::make(const std::string& machine_text) {
  const std::lock_guard lock(mutex_);
  if (context_) return;
  team::ContextOptions options;
  options.machine = parsed(machine_text);
  options.machine_text = machine_text;
  options.arena.cap_bytes = team::default_cap_bytes;
  options.progress = progress_;
  options.heap = heap_;
  options.processes_here = ranks_here_;
  options.forcing = select::Forcing(options_.algorithms);
  context_ = std::make_unique<team::Context>(std::move(options));
}

}  // namespace huddle::mpi
