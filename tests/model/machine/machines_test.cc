// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The files in machines/ are valid, sufficient for all predictions, and true to their sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/machine_file.h"

namespace huddle::machine {
namespace {

struct Known {
  std::string name;
  int cores = 0;
  int pus = 0;
  std::vector<std::string> joining;
  bool has_cma = true;
  bool has_network = true;
};

void PrintTo(const Known& known, std::ostream* out) { *out << known.name; }

const std::vector<Known>& known_machines() {
  static const std::vector<Known> all = {
      {"dawning-5000a", 16, 16, {"l3", "machine"}, false},
      {"songshan", 32, 32, {"l3", "numa", "package"}, true},
      {"xeon-e5-2620v4-2s", 16, 16, {"l3", "machine"}, true},
      {"xeon-e5620-2s", 8, 8, {"l3", "machine"}, true},
      {"xeon-e7-8850-8s", 80, 80, {"l3", "group", "machine"}, true},
      {"dawning-4000a", 4, 4, {"machine"}, false},
      {"deepcomp-6800", 4, 4, {"machine"}, false},
      {"i7-6700", 4, 8, {"core", "l3"}, true},
      {"lu-pc-2x4", 8, 8, {"l2", "l3", "machine"}, true},
      {"amd-epyc-7r13-2s", 96, 192, {"core", "l3", "group1", "numa", "machine"}, true, false},
      {"xeon-gold-6242-2s", 32, 64, {"core", "l3", "machine"}, true, false},
      {"xeon-platinum-8375c-2s", 64, 128, {"core", "l3", "machine"}, true, false},
      {"xeon-skylake-2x12", 24, 24, {"l3", "machine"}, true, false},
      {"epyc-2x64-estimate", 128, 128, {"l3", "numa", "package", "machine"}, true},
  };
  return all;
}

std::string machines_folder() { return std::string(HUDDLE_SOURCE_DIR) + "/machines/"; }

Machine load(const std::string& name) {
  return read_machine_file(machines_folder() + name + ".toml");
}

class PaperMachine : public testing::TestWithParam<Known> {
 protected:
  Machine machine_ = load(GetParam().name);
  CostModel model_{machine_};

  // Returns one pair of hardware threads for each joining level, innermost first.
  std::vector<std::pair<int, int>> pairs() const {
    std::map<std::size_t, int> first_other;
    const int a = machine_.topology.pus.first();
    for (const int b : machine_.topology.pus) {
      if (b != a) first_other.emplace(joining_level(machine_.topology, a, b), b);
    }
    std::vector<std::pair<int, int>> found;
    for (const auto& [level, b] : first_other) found.emplace_back(a, b);
    return found;
  }
};

TEST_P(PaperMachine, HasItsTopology) {
  EXPECT_EQ(machine_.name, GetParam().name);
  EXPECT_EQ(core_count(machine_.topology), GetParam().cores);
  EXPECT_EQ(machine_.topology.pus.count(), GetParam().pus);
  EXPECT_EQ(joining_levels(machine_.topology), GetParam().joining);
}

// None of these machines was measured by huddle, and each file names its sources.
TEST_P(PaperMachine, NamesItsSources) {
  EXPECT_FALSE(calibrated(machine_));
  EXPECT_FALSE(machine_.provenance.method.empty());
  EXPECT_FALSE(machine_.provenance.sources.empty());
}

TEST_P(PaperMachine, RoundTripsWithoutLoss) {
  EXPECT_EQ(parse_machine(format_machine(machine_), GetParam().name), machine_);
}

TEST_P(PaperMachine, HasEveryHandoffAtEveryLevel) {
  for (const std::string& level : GetParam().joining) {
    std::set<HandoffKind> kinds;
    for (const HandoffCurve& handoff : machine_.handoff) {
      if (handoff.level == level) kinds.insert(handoff.kind);
    }
    // These kinds were added later, so a file may lack them.
    kinds.insert({HandoffKind::ring_rep_movsb, HandoffKind::ring_prefetch_write,
                  HandoffKind::write_ping_pong, HandoffKind::write_reader_owned,
                  HandoffKind::read_and_own, HandoffKind::ring_reader_owned,
                  HandoffKind::write_interleaved, HandoffKind::read_interleaved,
                  HandoffKind::ring_interleaved});
    EXPECT_EQ(kinds.size(), handoff_names.size()) << level;
  }
}

void expect_rising(const Curve& curve, const std::string& what) {
  EXPECT_TRUE(std::is_sorted(curve.ns.begin(), curve.ns.end())) << what;
}

TEST_P(PaperMachine, HasMonotoneCurves) {
  for (const CopyCurve& copy : machine_.copy) {
    expect_rising(copy.curve, "copy " + copy.level);
    const std::vector<double> speeds = rates(copy.curve);
    // A larger working set is never faster, but spreads the fixed cost over more bytes: 5 %.
    for (std::size_t i = 1; i < speeds.size(); ++i) {
      EXPECT_LE(speeds[i], 1.05 * speeds[i - 1]) << copy.level << " " << copy.curve.bytes[i];
    }
  }
  for (const HandoffCurve& handoff : machine_.handoff) {
    expect_rising(handoff.curve, "hand-off " + handoff.level);
  }
  for (const PathCurve& path : machine_.paths) expect_rising(path.curve, path.path);
  for (const Network& network : machine_.networks) expect_rising(network.curve, network.name);
}

constexpr std::array<double, 5> curve_sizes = {64, 8192, 262144, 4194304, 134217728};

TEST_P(PaperMachine, CopyTimesGrowWithContention) {
  const CopyCurve& alone = machine_.copy.front();
  ASSERT_EQ(alone.copiers, 1);
  for (const CopyCurve& copy : machine_.copy) {
    for (const CopyCurve& fewer : machine_.copy) {
      const bool compares = fewer.level == copy.level || fewer.copiers == 1;
      if (!compares || fewer.copiers >= copy.copiers) continue;
      for (const double bytes : curve_sizes) {
        EXPECT_GE(time_at(copy.curve, bytes), 0.999 * time_at(fewer.curve, bytes))
            << copy.level << " " << copy.copiers << " against " << fewer.copiers << " at " << bytes;
      }
    }
  }
}

TEST_P(PaperMachine, CostsGrowOutward) {
  double line_ns = 0;
  double load_ns = 0;
  for (const auto& [a, b] : pairs()) {
    EXPECT_GT(model_.line_ns(a, b), line_ns);
    EXPECT_LT(model_.shared_line_ns(a, b), model_.line_ns(a, b));
    line_ns = model_.line_ns(a, b);
  }
  for (const MemoryCost& memory : machine_.memory) {
    // Levels inside one NUMA node have the same memory.
    EXPECT_GE(memory.load_ns, load_ns);
    load_ns = memory.load_ns;
  }
  std::set<HandoffKind> kinds;
  for (const HandoffCurve& handoff : machine_.handoff) kinds.insert(handoff.kind);
  for (const HandoffKind kind : kinds) {
    for (const double bytes : curve_sizes) {
      double ns = 0;
      for (const auto& [a, b] : pairs()) {
        const double next = model_.handoff_ns(bytes, a, b, kind);
        EXPECT_GT(next, ns) << handoff_names[static_cast<std::size_t>(kind)] << " " << bytes;
        ns = next;
      }
    }
  }
}

void expect_time(double ns, const std::string& what) {
  EXPECT_TRUE(std::isfinite(ns) && ns > 0) << what << " is " << ns;
}

TEST_P(PaperMachine, PredictsEveryTime) {
  const std::vector<int>& pus = machine_.topology.pus.cpus();
  expect_time(model_.line_to_readers_ns(pus.front(), pus), "readers");
  expect_time(model_.flags_ns(pus, pus.front(), 2), "flags");
  for (const auto& [a, b] : pairs()) {
    for (const Source source :
         {Source::own_cache, Source::peer_wrote, Source::near_memory, Source::far_memory}) {
      for (const Target target : {Target::own_cache, Target::peer_cached, Target::memory}) {
        for (const double bytes : curve_sizes) {
          for (const int others : {0, GetParam().cores - 1}) {
            Copy copy{bytes, a, b, source, target, others, whole_machine};
            expect_time(model_.copy_ns(copy), "copy");
          }
        }
      }
    }
  }
  for (std::size_t call = 0; call < system_call_names.size(); ++call) {
    expect_time(model_.system_ns(static_cast<SystemCall>(call)), "system call");
  }
  for (const double bytes : curve_sizes) {
    if (GetParam().has_network) {
      expect_time(model_.message_ns(bytes, 0), "message");
      expect_time(model_.message_ns(bytes, GetParam().cores - 1), "message among many");
    }
    EXPECT_EQ(std::isfinite(model_.path_ns("cma", bytes, GetParam().cores - 1)),
              GetParam().has_cma);
  }
}

// A copy through the kernel moves the same bytes as a copy by the core itself, so it is not faster.
TEST_P(PaperMachine, HasNoPathFasterThanACopy) {
  for (const PathCurve& path : machine_.paths) {
    for (std::size_t i = 0; i < path.curve.bytes.size(); ++i) {
      const Copy own{
          path.curve.bytes[i], 0, 0, Source::own_cache, Target::own_cache, path.copiers - 1,
          whole_machine};
      EXPECT_GE(path.curve.ns[i], 0.999 * model_.copy_ns(own)) << path.path << " " << path.copiers;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PaperMachine, testing::ValuesIn(known_machines()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

const HandoffCurve& handoff_of(const Machine& machine, const std::string& level, HandoffKind kind) {
  return *std::find_if(
      machine.handoff.begin(), machine.handoff.end(),
      [&](const HandoffCurve& handoff) { return handoff.level == level && handoff.kind == kind; });
}

TEST(Dawning5000A, HasThePublishedFigures) {
  const Machine machine = load("dawning-5000a");
  EXPECT_EQ(machine.memory.front().load_ns, 109.93);
  EXPECT_EQ(machine.memory.front().origin, Origin::published);
  for (const auto& [level, block_ns] : {std::pair{"l3", 2320.0}, {"machine", 5130.0}}) {
    const HandoffCurve& moves = handoff_of(machine, level, HandoffKind::read_dirty);
    EXPECT_EQ(moves.origin, Origin::published);
    EXPECT_EQ(time_at(moves.curve, 8192), block_ns);
    EXPECT_EQ(time_at(moves.curve, 131072), 16 * block_ns);
  }
  const CostModel model(machine);
  const double outside_ns = model.line_ns(0, 4);
  EXPECT_NEAR(2 * (outside_ns - model.line_ns(0, 1)), 740 - 580, 1) << "two lines a message";
}

// A copy of 1 MB has a working set of 2 MB in one socket.
TEST(Dawning5000A, MatchesThePublishedDropBeyondTheSharedCache) {
  const Machine machine = load("dawning-5000a");
  const CostModel model(machine);
  Copy copy{1 << 20, 0, 0, Source::own_cache, Target::own_cache, 1, "l3"};
  EXPECT_DOUBLE_EQ(model.copy_ns(copy), 427110);
  copy.others = 2;
  EXPECT_DOUBLE_EQ(model.copy_ns(copy), 696990);
  copy.bytes = 128 << 10;
  const double crowded_ns = model.copy_ns(copy);
  copy.others = 0;
  EXPECT_DOUBLE_EQ(crowded_ns, model.copy_ns(copy)) << "a private L2 does not feel neighbours";
}

// Returns the rate of 16 processes, `a_socket` per socket. STREAM counts a copied byte twice.
double stream_mb_per_s(const CostModel& model, int a_socket) {
  const double bytes = 64 << 20;
  const Copy copy{bytes, 0, 0, Source::own_cache, Target::own_cache, a_socket - 1, "l3"};
  return 16 * 2 * bytes / model.copy_ns(copy) * 1000;
}

TEST(Dawning5000A, MatchesTheStreamResults) {
  const Machine machine = load("dawning-5000a");
  const CostModel model(machine);
  const double apart = stream_mb_per_s(model, 1);
  EXPECT_NEAR(apart - stream_mb_per_s(model, 2), 1188, 0.02 * 1188);
  EXPECT_NEAR(apart - stream_mb_per_s(model, 4), 13979, 0.02 * 13979);
}

std::uint64_t cache_bytes(const Machine& machine, const std::string& level) {
  return find_level(machine.topology, level)->bytes.front();
}

std::uint64_t memory_bytes(const Machine& machine) {
  std::uint64_t sum = 0;
  for (const NumaNode& node : machine.topology.numa) sum += node.bytes;
  return sum;
}

TEST(PublishedSizes, MatchThePapers) {
  constexpr std::uint64_t kib = 1024;
  constexpr std::uint64_t mib = 1024 * kib;
  constexpr std::uint64_t gib = 1024 * mib;
  const Machine dawning = load("dawning-5000a");
  EXPECT_EQ(cache_bytes(dawning, "l2"), 512 * kib);
  EXPECT_EQ(cache_bytes(dawning, "l3"), 2 * mib);
  EXPECT_EQ(memory_bytes(dawning), 64 * gib);
  EXPECT_EQ(dawning.topology.numa.size(), 4U);
  const Machine broadwell = load("xeon-e5-2620v4-2s");
  EXPECT_EQ(cache_bytes(broadwell, "l2"), 256 * kib);
  EXPECT_EQ(cache_bytes(broadwell, "l3"), 20 * mib);
  EXPECT_EQ(memory_bytes(broadwell), 64 * gib);
  const Machine westmere = load("xeon-e5620-2s");
  EXPECT_EQ(cache_bytes(westmere, "l3"), 12 * mib);
  EXPECT_EQ(memory_bytes(westmere), 24 * gib);
  EXPECT_EQ(memory_bytes(load("xeon-e7-8850-8s")), 128 * gib);
  const Machine songshan = load("songshan");
  EXPECT_EQ(songshan.topology.numa.size(), 4U);
  EXPECT_EQ(songshan.networks.front().rails, 4);
}

// The folder may also contain the file of the local machine; all files must be valid.
TEST(MachinesFolder, ContainsOnlyValidFiles) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(machines_folder())) {
    if (entry.path().extension() != ".toml") continue;
    const Machine machine = read_machine_file(entry.path().string());
    EXPECT_EQ(machine.name, entry.path().stem().string());
    names.insert(machine.name);
  }
  for (const Known& known : known_machines()) EXPECT_TRUE(names.contains(known.name));
}

}  // namespace
}  // namespace huddle::machine
