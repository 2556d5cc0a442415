// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Protocols on real threads: each rank is a thread, and shared memory is laid out as in a team.
// Used with the thread sanitizer.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "runtime/context/native_context.h"
#include "runtime/node/lines.h"
#include "runtime/node/locality.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::node::test {

using context::Buffers;
using context::NativeContext;
using context::ProtocolContext;

// Page-aligned memory of one rank, in which every flag holds the first sequence number.
class RankMemory {
 public:
  explicit RankMemory(std::size_t bytes) : bytes_(round_up(bytes + 1, page_bytes)) {
    data_.reset(static_cast<std::byte*>(::operator new (bytes_, std::align_val_t{page_bytes})));
    for (std::size_t at = 0; at < bytes_; at += sizeof context::first_sequence) {
      std::memcpy(data_.get() + at, &context::first_sequence, sizeof context::first_sequence);
    }
  }
  std::byte* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* data) const {
      ::operator delete (data, std::align_val_t{page_bytes});
    }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

// Runs work(rank, protocol, context_for) on a thread per rank. context_for() returns a call's
// context.
template <class Protocol>
class Threads {
 public:
  using WorldFor = std::function<NativeContext(const void* input, void* output)>;
  using Work = std::function<void(int rank, Protocol& protocol, const WorldFor& context_for)>;

  Threads(int ranks, const std::function<Protocol(int rank)>& make) : ranks_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      protocols_.push_back(make(rank));
      memory_.emplace_back(protocols_.back().shared_bytes());
      shared_.push_back(memory_.back().data());
    }
    for (int rank = 0; rank < ranks; ++rank) waiting_.push_back(oversubscribed());
  }

  void run(const Work& work) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([&, rank] {
        std::vector<std::byte> scratch(most_scratch_bytes);
        const std::vector<single_copy::PeerMemory*> peers(shared_.size(), &own_memory_);
        const ProtocolContext context{rank,
                                      ranks_,
                                      shared_.data(),
                                      scratch.data(),
                                      &waiting_[static_cast<std::size_t>(rank)],
                                      peers.data()};
        work(rank, protocols_[static_cast<std::size_t>(rank)],
             [&](const void* input, void* output) {
               return NativeContext(context, Buffers{static_cast<const std::byte*>(input),
                                                     static_cast<std::byte*>(output)});
             });
      });
    }
  }

 private:
  static constexpr std::size_t most_scratch_bytes = 1 << 16;

  static context::Waiting oversubscribed() { return {{.oversubscribed = true}, nullptr, nullptr}; }

  int ranks_;
  single_copy::OwnMemory own_memory_;  // stateless: any thread may use it
  std::vector<Protocol> protocols_;
  std::vector<RankMemory> memory_;
  std::vector<std::byte*> shared_;
  std::vector<context::Waiting> waiting_;
};

}  // namespace huddle::node::test
