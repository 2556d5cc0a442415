// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The figures of a machine file by rank, as the simulated context uses them: latencies of cache
// lines, caches, times of undisturbed copies, and capacities of the resources that copies share.
// Figures that a machine file lacks are not invented but listed in not_derived().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/memory/copy.h"

namespace huddle::protocols::model {

// The load of a copy on one resource. It can differ from the size of the copy: a plain copy loads a
// memory controller with three times its size, and a cache that holds one side with half its size.
struct Load {
  int resource = 0;
  double bytes = 0;  // for the whole copy
};

// Concurrent copies that share resources by max-min fairness: the rate of a copy cannot grow
// without reducing that of a copy that is at most as fast. Rates are bytes per nanosecond (GB/s).
class Sharing {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  // gb_per_s: capacity of each resource; infinity for a resource that limits no copy.
  explicit Sharing(std::vector<double> gb_per_s);

  // Starts copy number `copy` of `bytes` bytes at now_ns. Without other copies it takes alone_ns.
  // Requires: now_ns is not before the time of an earlier call, alone_ns > 0, bytes > 0, and the
  // copy is not in progress.
  void begin(int copy, double now_ns, double bytes, double alone_ns,
             const std::vector<Load>& loads);
  // Returns when the next copy ends if none begins before; `never` if none is in progress.
  double next_end_ns();
  // Ends the copy that ends next, at that time, and returns its number. If several end at the same
  // time, ends the one with the lowest number.
  int finish_next();

  // Returns the bytes that have passed through each resource since the last clear_passed().
  const std::vector<double>& passed_bytes() const { return passed_bytes_; }
  void clear_passed() { passed_bytes_.assign(passed_bytes_.size(), 0); }

 private:
  struct Open {
    int copy = 0;
    double left_bytes = 0;
    double most_gb_per_s = 0;  // without other copies
    double gb_per_s = 0;
    std::vector<Load> loads;  // per byte copied
  };

  void advance(double now_ns);
  void share();
  void set(Open& one, double gb_per_s);

  std::vector<double> gb_per_s_;
  std::vector<double> passed_bytes_;
  std::vector<Open> open_;  // by number
  double now_ns_ = 0;
  bool is_shared_ = true;
  std::size_t next_ = 0;
  double next_end_ns_ = never;
  // Buffers of share(), kept to avoid allocations.
  std::vector<char> full_;
  std::vector<double> free_, asked_;
  std::vector<int> touched_;
  std::vector<std::size_t> unset_;
};

// The location of the lines of one side of a copy.
struct Side {
  enum class Where : std::uint8_t {
    own_cache,   // of the copier; `which` counts its caches from the innermost
    peer_cache,  // of rank `which`, from which lines or their ownership move
    memory,      // of rank `which`, which owns the place
  };
  Where where = Where::own_cache;
  int which = 0;
  // Kind of hand-off if lines are taken from a peer's cache.
  machine::HandoffKind manner = machine::HandoffKind::write_cached;

  bool operator==(const Side&) const = default;
};

class Figures {
 public:
  // pus: the hardware thread of each rank. path: the path for copies of peers' memory, as in
  // machine files; empty: none. Keeps a reference to the model.
  // Requires: no two ranks share a hardware thread.
  Figures(const machine::CostModel& model, const std::vector<int>& pus, std::string path);

  int ranks() const { return static_cast<int>(pus_.size()); }

  // Times of a cache line between two ranks; see machine::LineCost.
  struct Way {
    double line_ns = 0;
    double shared_ns = 0;
    double reader_step_ns = 0;
    double writer_step_ns = 0;
    double load_step_ns = 0;  // between successive loads of several lines by one rank
    int level = 0;            // innermost level that contains both
  };
  const Way& way(int from, int to) const {
    return ways_[static_cast<std::size_t>(from) * pus_.size() + static_cast<std::size_t>(to)];
  }
  int outstanding_misses() const { return model_.outstanding_misses(); }
  double shortest_way_ns() const { return shortest_way_ns_; }
  // Names for Way::level: the topology's levels, and the whole machine.
  const std::vector<std::string>& levels() const { return levels_; }

  struct Cache {
    std::uint64_t bytes = 0;
    std::vector<int> ranks;  // ranks that share it
    int resource = -1;       // -1: capacity unknown, limits no copy
  };
  const std::vector<Cache>& caches() const { return caches_; }
  // Returns the caches of a rank, innermost first.
  const std::vector<int>& caches_of(int rank) const {
    return caches_of_[static_cast<std::size_t>(rank)];
  }

  struct Resource {
    std::string name;  // "l3 0-7", "memory of node 1"
    double gb_per_s = 0;
    bool is_controller = false;
  };
  const std::vector<Resource>& resources() const { return resources_; }
  // Descriptions of the capacities that the machine's figures lack. Such resources are never full.
  const std::vector<std::string>& not_derived() const { return not_derived_; }

  // Returns the time of a copy without other copies.
  // Requires: bytes > 0.
  double copy_ns(int rank, const Side& from, const Side& to, std::size_t bytes,
                 memory::CopyKernel kernel) const;
  // Returns the time of a copy by the path into a peer's memory; infinity if the machine file lacks
  // it.
  double path_ns(std::size_t bytes) const;

  // Call add(resource, bytes) for the load of a copy on each resource.
  template <class Add>
  void loads_of_read(int rank, const Side& from, std::size_t bytes, Add add) const;
  template <class Add>
  void loads_of_write(int rank, const Side& to, int owner, std::size_t bytes,
                      memory::CopyKernel kernel, Add add) const;
  int path_resource() const { return path_resource_; }
  // Returns the load on path_resource() of a copy by the path, derived from measurements of several
  // ranks that copy at the same time.
  double path_load_bytes(std::size_t bytes) const;

 private:
  void find_ways();
  void find_caches();
  void find_memory();
  void find_path();
  double path_ns_of(double bytes, int copiers) const;
  template <class Add>
  void loads_of_side(int rank, const Side& side, double bytes, Add add) const;
  template <class Add>
  void loads_of_memory(int rank, int owner, double bytes, Add add) const;
  int pu(int rank) const { return pus_[static_cast<std::size_t>(rank)]; }
  int add_resource(std::string name, double gb_per_s, bool is_controller = false);
  double fresh_copy_ns(int rank, const Side& from, const Side& to, std::size_t bytes,
                       memory::CopyKernel kernel) const;

  const machine::CostModel& model_;
  std::vector<int> pus_;
  machine::GroupIndex index_;
  std::vector<std::string> levels_;
  std::vector<Way> ways_;
  double shortest_way_ns_ = 0;
  std::vector<Cache> caches_;
  std::vector<std::vector<int>> caches_of_;
  std::vector<std::vector<double>> ns_per_byte_of_;  // by rank, cache: of a copy inside it
  std::vector<Resource> resources_;
  std::vector<int> controller_of_;                // by rank: controller of its memory; -1: unknown
  std::vector<std::vector<int>> memory_ways_of_;  // by rank: between caches and memory
  std::string path_;
  int path_resource_ = -1;
  int path_copiers_ = 1;  // the most that were measured at the same time
  std::vector<std::string> not_derived_;
  mutable std::unordered_map<std::uint64_t, double> known_;
};

template <class Add>
void Figures::loads_of_side(int rank, const Side& side, double bytes, Add add) const {
  // The curve of a cache counts one stream in and one stream out; each side is half of that.
  const auto through = [&](const Cache& cache) {
    if (cache.resource >= 0) add(cache.resource, bytes / 2);
  };
  const auto& mine = caches_of(rank);
  const bool is_own = side.where == Side::Where::own_cache;
  for (std::size_t i = 0; i < mine.size() && (!is_own || static_cast<int>(i) <= side.which); ++i) {
    through(caches_[static_cast<std::size_t>(mine[i])]);
  }
  if (side.where == Side::Where::peer_cache) {
    for (const int cache : caches_of(side.which)) {
      const bool is_shared = std::find(mine.begin(), mine.end(), cache) != mine.end();
      if (!is_shared) through(caches_[static_cast<std::size_t>(cache)]);
    }
  }
}

template <class Add>
void Figures::loads_of_memory(int rank, int owner, double bytes, Add add) const {
  for (const int way : memory_ways_of_[static_cast<std::size_t>(rank)]) add(way, bytes);
  const int controller = controller_of_[static_cast<std::size_t>(owner)];
  if (controller >= 0) add(controller, bytes);
}

template <class Add>
void Figures::loads_of_read(int rank, const Side& from, std::size_t bytes, Add add) const {
  const auto n = static_cast<double>(bytes);
  loads_of_side(rank, from, n, add);
  if (from.where == Side::Where::memory) loads_of_memory(rank, from.which, n, add);
}

template <class Add>
void Figures::loads_of_write(int rank, const Side& to, int owner, std::size_t bytes,
                             memory::CopyKernel kernel, Add add) const {
  const auto n = static_cast<double>(bytes);
  if (kernel == memory::CopyKernel::nontemporal) {
    loads_of_memory(rank, owner, n, add);
    return;
  }
  loads_of_side(rank, to, n, add);
  // A plain store first reads the line, and writes it back later.
  if (to.where == Side::Where::memory) loads_of_memory(rank, owner, 2 * n, add);
}

}  // namespace huddle::protocols::model
