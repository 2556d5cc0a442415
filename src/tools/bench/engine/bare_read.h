// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What single copy takes at the least: each rank of two, or one, reads the other's block straight
// out of its memory, by a system call or, in a comparison of heaps, where it is mapped, and may
// copy its own, with nothing said in between.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/memory/copy.h"
#include "runtime/single_copy/peer_memory.h"
#include "runtime/single_copy/tracing.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/shared_pages.h"

namespace huddle::bench {

class BareRead final : public Implementation {
 public:
  enum class Readers { both, first };
  enum class Own { copied, left };
  // kernel: how what is mapped is copied.
  explicit BareRead(Readers readers, Own own = Own::copied,
                    memory::CopyKernel kernel = memory::CopyKernel::plain)
      : readers_(readers), own_(own), kernel_(kernel) {}

  void set_up(const RankContext& here) override;
  void prepare(const RankContext& here) override;
  void run(const RankContext& here, int calls) override;
  bool is_right(const RankContext& here) override;

 private:
  struct Shown {
    std::int64_t process = 0;
    single_copy::RemoteAddress source = 0;
    memory::HeapFacts heap;
  };

  void open_peer(const RankContext& here);

  bool reads(const RankContext& here) const { return readers_ == Readers::both || here.rank == 0; }

  Readers readers_;
  Own own_;
  memory::CopyKernel kernel_;
  std::optional<single_copy::TracingPermit> permit_;
  Shared<Shown> shown_{std::size_t{2}};            // by rank
  std::unique_ptr<single_copy::PeerMemory> peer_;  // on whoever reads, once it has begun
};

}  // namespace huddle::bench
