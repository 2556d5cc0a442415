// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The team context of this process, and where its machine comes from: one process looks at the
// machine, which takes long where it has many processors, and tells the others of its node.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "mpi/machine_discovery.h"
#include "mpi/options.h"
#include "runtime/memory/heap.h"
#include "runtime/team/context.h"

namespace huddle::mpi {

// For several threads.
class NodeContext {
 public:
  // progress: keeps the MPI moving while a rank waits.
  // ranks_here: of the job, on this node; 0: unknown.
  // warn: is passed a sentence if the machine file is broken.
  NodeContext(const Options& options, std::function<void()> progress, int ranks_here,
              Complain warn);

  bool is_there() const;
  // pre: it is there.
  team::Context& get() const;

  // Starts the heap of this process, where it is wanted and to be had; `complain` is told why it is
  // not to be had.
  void start_heap(const Complain& complain);
  // Nothing where it was not started.
  std::optional<memory::HeapFacts> heap() const;

  // Begins to look at this machine, where nobody has: the text will be wanted soon. What goes wrong
  // is said by machine_text().
  void begin_to_look() noexcept;
  // Returns the machine of the context or, if there is none yet, this machine: as text. Throws
  // FailureError, and warns of it: without a machine every collective goes to the MPI.
  std::string machine_text();
  // From such a text. Nothing where the context is there already.
  void make(const std::string& machine_text);

 private:
  const Options& options_;
  std::function<void()> progress_;
  int ranks_here_;
  Complain warn_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<memory::HeapFacts> heap_;
  std::unique_ptr<MachineDiscovery> look_;  // while it runs
  std::unique_ptr<team::Context> context_;
};

}  // namespace huddle::mpi
