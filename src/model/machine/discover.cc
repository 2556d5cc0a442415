// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/topology.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "common/error.h"
#include "common/file.h"

namespace huddle::machine {
namespace {

struct TopologyCloser {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, TopologyCloser>;

struct BitmapCloser {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using BitmapHandle = std::unique_ptr<hwloc_bitmap_s, BitmapCloser>;

TopologyHandle make_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw FailureError("hwloc cannot start: out of memory");
  TopologyHandle topology(raw);
  // Includes the whole machine, so that its fingerprint does not depend on the cgroup.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  // Disables hwloc's x86 backend. The kernel already provides all information, and the backend
  // would bind to each hardware thread in turn, which takes long, or forever, if ranks of an
  // application occupy them.
  hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  return topology;
}

CpuSet to_cpu_set(hwloc_const_bitmap_t bitmap) {
  std::vector<int> cpus;
  if (bitmap == nullptr) return CpuSet();
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu)) {
    cpus.push_back(cpu);
  }
  return CpuSet(std::move(cpus));
}

std::string info_of(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? std::string() : std::string(value);
}

// Firmware pads model names with spaces.
std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return std::string();
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string cpu_model_of(hwloc_topology_t topology) {
  const hwloc_obj_t root = hwloc_get_root_obj(topology);
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  for (const hwloc_obj_t object : {package, root}) {
    if (object == nullptr) continue;
    std::string model = trimmed(info_of(object, "CPUModel"));
    if (!model.empty()) return model;
  }
  return info_of(root, "Architecture");  // Arm firmware often provides no model
}

std::string level_type_name(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_PACKAGE:
      return "package";
    case HWLOC_OBJ_CORE:
      return "core";
    case HWLOC_OBJ_L1CACHE:
      return "l1";
    case HWLOC_OBJ_L2CACHE:
      return "l2";
    case HWLOC_OBJ_L3CACHE:
      return "l3";
    case HWLOC_OBJ_L4CACHE:
      return "l4";
    case HWLOC_OBJ_L5CACHE:
      return "l5";
    case HWLOC_OBJ_GROUP:
      return "group";
    case HWLOC_OBJ_NUMANODE:
      return "numa";
    case HWLOC_OBJ_DIE:
      return "die";
    case HWLOC_OBJ_MACHINE:
    case HWLOC_OBJ_PU:
    case HWLOC_OBJ_L1ICACHE:
    case HWLOC_OBJ_L2ICACHE:
    case HWLOC_OBJ_L3ICACHE:
    case HWLOC_OBJ_BRIDGE:
    case HWLOC_OBJ_PCI_DEVICE:
    case HWLOC_OBJ_OS_DEVICE:
    case HWLOC_OBJ_MISC:
    case HWLOC_OBJ_MEMCACHE:
    case HWLOC_OBJ_TYPE_MAX:
      return std::string();
  }
  return std::string();
}

void sort_groups(Level& level) {
  std::vector<std::size_t> order(level.groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&level](std::size_t a, std::size_t b) {
    return level.groups[a].first() < level.groups[b].first();
  });
  Level sorted{level.name, {}, {}};
  for (const std::size_t i : order) {
    sorted.groups.push_back(level.groups[i]);
    if (!level.bytes.empty()) sorted.bytes.push_back(level.bytes[i]);
  }
  level = std::move(sorted);
}

// Returns the level of one hwloc depth, whose objects all have the same type.
std::optional<Level> level_at(hwloc_topology_t topology, int depth) {
  Level level{level_type_name(hwloc_get_depth_type(topology, depth)), {}, {}};
  if (level.name.empty()) return std::nullopt;
  const bool cache = hwloc_obj_type_is_cache(hwloc_get_depth_type(topology, depth)) != 0;
  for (hwloc_obj_t object = hwloc_get_next_obj_by_depth(topology, depth, nullptr);
       object != nullptr; object = hwloc_get_next_obj_by_depth(topology, depth, object)) {
    CpuSet cpus = to_cpu_set(object->cpuset);
    if (cpus.empty()) continue;
    level.groups.push_back(std::move(cpus));
    if (cache) level.bytes.push_back(object->attr->cache.size);
  }
  if (level.groups.empty()) return std::nullopt;
  sort_groups(level);
  return level;
}

// Gives different names to levels of the same type (nested groups): group, group2, ...
void name_uniquely(std::vector<Level>& levels) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    int same = 1;
    for (std::size_t j = 0; j < i; ++j) same += levels[j].name == levels[i].name ? 1 : 0;
    if (same > 1) levels[i].name += std::to_string(same);
  }
}

std::vector<Level> processor_levels(hwloc_topology_t topology) {
  std::vector<Level> levels;
  for (int depth = hwloc_topology_get_depth(topology) - 1; depth >= 0; --depth) {
    std::optional<Level> level = level_at(topology, depth);
    if (level) levels.push_back(std::move(*level));
  }
  name_uniquely(levels);
  return levels;
}

std::string memory_kind(hwloc_obj_t node) {
  for (std::string kind :
       {info_of(node, "MemoryTier"), std::string(node->subtype ? node->subtype : "")}) {
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (kind == "mcdram") return "hbm";
    if (!kind.empty()) return kind;
  }
  return std::string();
}

// Marks memory-only nodes. hwloc assigns nearby CPUs to them, so a node is memory-only if its kind
// implies it, if it has no CPUs, or if another node is the home of the same CPUs.
void mark_memory_only(std::vector<NumaNode>& nodes) {
  for (NumaNode& node : nodes) {
    node.memory_only = node.cpus.empty() || node.kind == "hbm" || node.kind.starts_with("cxl");
  }
  for (NumaNode& node : nodes) {
    if (node.memory_only) continue;
    const bool another_at_home =
        std::any_of(nodes.begin(), nodes.end(), [&node](const NumaNode& other) {
          if (&other == &node || other.cpus.empty() || !node.cpus.contains(other.cpus))
            return false;
          if (other.memory_only) return false;
          return other.cpus != node.cpus || other.number < node.number;
        });
    node.memory_only = another_at_home;
  }
}

std::vector<NumaNode> numa_nodes(hwloc_topology_t topology) {
  std::vector<NumaNode> nodes;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr) {
    NumaNode node;
    node.number = static_cast<int>(object->os_index);
    node.cpus = to_cpu_set(object->cpuset);
    node.bytes = object->attr->numanode.local_memory;
    node.kind = memory_kind(object);
    nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const NumaNode& a, const NumaNode& b) { return a.number < b.number; });
  mark_memory_only(nodes);
  return nodes;
}

// Inserts the NUMA nodes, which hwloc keeps outside of its tree, as a level outside of all levels
// whose groups they contain. Replaces a group that hwloc created only to attach them. A single node
// makes no level, because it separates nothing.
void insert_numa_level(Topology& topology) {
  Level numa{"numa", {}, {}};
  for (const NumaNode& node : topology.numa) {
    if (!node.memory_only) numa.groups.push_back(node.cpus);
  }
  if (numa.groups.size() < 2) return;
  sort_groups(numa);
  std::erase_if(topology.levels, [&numa](const Level& level) {
    return level.name.starts_with("group") && level.groups == numa.groups;
  });
  const auto fits_inside_a_node = [&numa](const CpuSet& group) {
    return std::none_of(numa.groups.begin(), numa.groups.end(), [&group](const CpuSet& node) {
      return node.intersects(group) && !node.contains(group);
    });
  };
  const auto place =
      std::find_if_not(topology.levels.begin(), topology.levels.end(), [&](const Level& level) {
        const bool is_the_package = level.name == "package" && level.groups == numa.groups;
        return !is_the_package &&
               std::all_of(level.groups.begin(), level.groups.end(), fits_inside_a_node);
      });
  topology.levels.insert(place, std::move(numa));
}

struct DistancesCloser {
  hwloc_topology_t topology;
  void operator()(hwloc_distances_s* distances) const {
    hwloc_distances_release(topology, distances);
  }
};

// Returns the firmware's distances in the order of `nodes`; empty unless it has them for all nodes.
std::vector<double> numa_distances(hwloc_topology_t topology, const std::vector<NumaNode>& nodes) {
  unsigned found = 1;
  hwloc_distances_s* raw = nullptr;
  const int status = hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &found, &raw,
                                                 HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
  if (status != 0 || found == 0) return {};
  const std::unique_ptr<hwloc_distances_s, DistancesCloser> distances(raw, {topology});
  if (distances->nbobjs != nodes.size()) return {};

  std::vector<std::size_t> position(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int number = static_cast<int>(distances->objs[i]->os_index);
    const auto node = std::find_if(nodes.begin(), nodes.end(),
                                   [number](const NumaNode& n) { return n.number == number; });
    if (node == nodes.end()) return {};
    position[static_cast<std::size_t>(node - nodes.begin())] = i;
  }
  std::vector<double> matrix;
  for (const std::size_t row : position) {
    for (const std::size_t column : position) {
      matrix.push_back(static_cast<double>(distances->values[row * nodes.size() + column]));
    }
  }
  return matrix;
}

// Returns the name of a kind of core that the processor reports, or one by its efficiency.
std::string kind_name(unsigned infos, const hwloc_info_s* info, int efficiency, int most) {
  for (unsigned i = 0; i < infos; ++i) {
    const std::string_view value = info[i].value;
    if (std::string_view(info[i].name) != "CoreType") continue;
    if (value == "IntelCore") return "performance";
    if (value == "IntelAtom") return "efficient";
    return std::string(value);
  }
  return efficiency == most ? "performance" : "efficient";
}

// Returns whether the attributes distinguish a kind of core. Only a core type or a scheduler
// capacity does; cores that differ only in their boost frequency are of the same kind.
bool tells_a_kind(unsigned infos, const hwloc_info_s* info) {
  return std::any_of(info, info + infos, [](const hwloc_info_s& entry) {
    const std::string_view name = entry.name;
    return name == "CoreType" || name == "LinuxCapacity";
  });
}

std::vector<CoreKind> core_kinds(hwloc_topology_t topology) {
  const int count = hwloc_cpukinds_get_nr(topology, 0);
  if (count < 2) return {};
  std::vector<CoreKind> kinds;
  for (int i = 0; i < count; ++i) {
    const BitmapHandle cpus(hwloc_bitmap_alloc());
    int efficiency = 0;
    unsigned infos = 0;
    hwloc_info_s* info = nullptr;
    if (hwloc_cpukinds_get_info(topology, static_cast<unsigned>(i), cpus.get(), &efficiency, &infos,
                                &info, 0) != 0 ||
        !tells_a_kind(infos, info)) {
      return {};
    }
    kinds.push_back(
        {kind_name(infos, info, efficiency, count - 1), efficiency, to_cpu_set(cpus.get())});
  }
  return kinds;
}

CpuSet allowed_of(hwloc_topology_t topology, const CpuSet& pus) {
  CpuSet allowed = common(to_cpu_set(hwloc_topology_get_allowed_cpuset(topology)), pus);
  if (hwloc_topology_is_thissystem(topology) == 0) return allowed;
  const BitmapHandle bound(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) != 0) return allowed;
  return common(allowed, to_cpu_set(bound.get()));
}

Discovery read_loaded(hwloc_topology_t topology) {
  Discovery found;
  Topology& result = found.topology;
  const hwloc_obj_t root = hwloc_get_root_obj(topology);
  result.cpu_model = cpu_model_of(topology);
  result.pus = to_cpu_set(root->cpuset);
  result.offline = without(to_cpu_set(root->complete_cpuset), result.pus);
  result.levels = processor_levels(topology);
  result.numa = numa_nodes(topology);
  for (NumaNode& node : result.numa) node.cpus = common(node.cpus, result.pus);
  insert_numa_level(result);
  result.numa_distances = numa_distances(topology, result.numa);
  result.kinds = core_kinds(topology);
  for (CoreKind& kind : result.kinds) kind.cpus = common(kind.cpus, result.pus);
  found.allowed = allowed_of(topology, result.pus);
  validate(result);
  return found;
}

}  // namespace

Discovery discover_this_machine() {
  const TopologyHandle topology = make_topology();
  if (hwloc_topology_load(topology.get()) != 0) {
    throw FailureError("hwloc cannot read this machine; does 'lstopo' work?");
  }
  if (hwloc_topology_is_thissystem(topology.get()) == 0) {
    throw InputError(
        "hwloc is set to another machine (HWLOC_XMLFILE or HWLOC_SYNTHETIC); unset these "
        "variables, or show it with 'huddle topo --xml' or '--synthetic'");
  }
  return read_loaded(topology.get());
}

Discovery discover_from_xml(const std::string& path) {
  const std::string xml = read_text(path);
  const TopologyHandle topology = make_topology();
  if (hwloc_topology_set_xmlbuffer(topology.get(), xml.c_str(), static_cast<int>(xml.size()) + 1) !=
          0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw InputError(path +
                     ": not a topology that hwloc can read (write one with 'lstopo --of xml')");
  }
  return read_loaded(topology.get());
}

Discovery discover_from_synthetic(const std::string& description) {
  const TopologyHandle topology = make_topology();
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw InputError(fmt::format(
        "'{}' is not a synthetic description that hwloc accepts; try \"pack:2 l3:2 core:8 pu:2\"",
        description));
  }
  return read_loaded(topology.get());
}

}  // namespace huddle::machine
