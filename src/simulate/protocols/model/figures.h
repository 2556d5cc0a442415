// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the world takes from a machine's figures, asked by rank: the ways of lines, the caches, the
// times of copies that have the machine for themselves, and how much each thing that they pass
// through carries. No figure is made up: what a machine file does not tell is named.
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

// Copies that go on at the same time, and how they share what they pass through: max-min. Nobody's
// rate can grow without taking from someone who has no more. A copy loads each resource with so
// many bytes for each of its own: a memory controller carries a plain copy three times, a cache
// that holds one side of it half. Rates are bytes a nanosecond (GB/s).

// What a copy asks of one resource.
struct Load {
  int resource = 0;
  double bytes = 0;  // while the whole copy goes through
};

class Sharing {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  // gb_per_s of each resource; infinity: it holds nobody back.
  explicit Sharing(std::vector<double> gb_per_s);

  // At `now_ns` the copy of that number begins, of so many bytes. Alone it takes so long. pre:
  // now_ns is not before what was said last, alone_ns > 0, bytes > 0, and the copy is not under
  // way.
  void begin(int copy, double now_ns, double bytes, double alone_ns,
             const std::vector<Load>& loads);
  // When the next copy is through, as long as none begins before; never: none is under way.
  double next_end_ns();
  // Takes that one out, at that time, and returns its number; of several the lowest.
  int finish_next();

  // What has passed through each resource since the last clear().
  const std::vector<double>& passed_bytes() const { return passed_bytes_; }
  void clear_passed() { passed_bytes_.assign(passed_bytes_.size(), 0); }

 private:
  struct Open {
    int copy = 0;
    double left_bytes = 0;
    double most_gb_per_s = 0;  // alone
    double gb_per_s = 0;
    std::vector<Load> loads;  // for each of its bytes
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
  // Of share(): kept for their memory.
  std::vector<char> full_;
  std::vector<double> free_, asked_;
  std::vector<int> touched_;
  std::vector<std::size_t> unset_;
};

// Where one side of a copy finds its lines.
struct Side {
  enum class Where : std::uint8_t {
    own_cache,   // in the copier's, `which` of its caches from the inside out
    peer_cache,  // in that of rank `which`: to be had from there, or to be taken from there
    memory,      // in that of rank `which`, the owner of the place
  };
  Where where = Where::own_cache;
  int which = 0;
  // To be taken: in which manner.
  machine::HandoffKind manner = machine::HandoffKind::write_cached;

  bool operator==(const Side&) const = default;
};

class Figures {
 public:
  // The processor of each rank. Keeps a reference to the model. pre: no two ranks share one.
  // path: by which peers' memory is copied, as in machine files; empty: by none.
  Figures(const machine::CostModel& model, const std::vector<int>& pus, std::string path);

  int ranks() const { return static_cast<int>(pus_.size()); }

  // A line on its way from one rank to another; see machine::LineCost.
  struct Way {
    double line_ns = 0;
    double shared_ns = 0;
    double reader_step_ns = 0;
    double writer_step_ns = 0;
    int level = 0;  // where both meet
  };
  const Way& way(int from, int to) const {
    return ways_[static_cast<std::size_t>(from) * pus_.size() + static_cast<std::size_t>(to)];
  }
  double shortest_way_ns() const { return shortest_way_ns_; }
  // Of Way::level: the topology's, and the whole machine.
  const std::vector<std::string>& levels() const { return levels_; }

  struct Cache {
    std::uint64_t bytes = 0;
    std::vector<int> ranks;  // that share it
    int resource = -1;       // -1: it holds nobody back, as far as is known
  };
  const std::vector<Cache>& caches() const { return caches_; }
  // From the inside out.
  const std::vector<int>& caches_of(int rank) const {
    return caches_of_[static_cast<std::size_t>(rank)];
  }

  struct Resource {
    std::string name;  // "l3 0-7", "memory of node 1"
    double gb_per_s = 0;
    bool is_controller = false;
  };
  const std::vector<Resource>& resources() const { return resources_; }
  // Capacities that the machine's figures do not tell, in words: what is so named is never full.
  const std::vector<std::string>& not_derived() const { return not_derived_; }

  // A copy that nobody else disturbs. pre: bytes > 0.
  double copy_ns(int rank, const Side& from, const Side& to, std::size_t bytes,
                 memory::CopyKernel kernel) const;
  // By the path into a peer's memory; infinity where the machine's figures do not tell.
  double path_ns(std::size_t bytes) const;

  // What a copy asks of the resources, for `add(resource, bytes)`.
  template <class Add>
  void loads_of_read(int rank, const Side& from, std::size_t bytes, Add add) const;
  template <class Add>
  void loads_of_write(int rank, const Side& to, int owner, std::size_t bytes,
                      memory::CopyKernel kernel, Add add) const;
  int path_resource() const { return path_resource_; }
  // What such a copy asks of it: as much as so many together have shown that each takes of it.
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
  std::vector<std::vector<double>> ns_per_byte_of_;  // by rank, of its caches: a copy inside one
  std::vector<Resource> resources_;
  std::vector<int> controller_of_;                // by rank, of its memory; -1: not known
  std::vector<std::vector<int>> memory_ways_of_;  // by rank: between its caches and any memory
  std::string path_;
  int path_resource_ = -1;
  int path_copiers_ = 1;  // the most that were measured together
  std::vector<std::string> not_derived_;
  mutable std::unordered_map<std::uint64_t, double> known_;
};

template <class Add>
void Figures::loads_of_side(int rank, const Side& side, double bytes, Add add) const {
  // The curve of a cache counts a stream in and a stream out: a side is half of that.
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
  // What a plain store changes is brought in first, and goes back later.
  if (to.where == Side::Where::memory) loads_of_memory(rank, owner, 2 * n, add);
}

}  // namespace huddle::protocols::model
