#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Writes the topologies that hwloc's synthetic descriptions cannot express, as hwloc XML.

Each function below describes a real kind of machine with the numbering of Linux. Run this script
after a change and review the differences; corpus_test.cc contains the expected results.
"""
import pathlib

MIB = 1 << 20
GIB = 1 << 30
CACHE_DEPTH = {"L1Cache": 1, "L2Cache": 2, "L3Cache": 3}


def bitmap(numbers):
    """{0, 33} -> '0x00000002,0x00000001', hwloc's text format of a set."""
    value = sum(1 << number for number in set(numbers))
    words = [f"0x{value & 0xFFFFFFFF:08x}"]
    while value := value >> 32:
        words.insert(0, f"0x{value & 0xFFFFFFFF:08x}")
    return ",".join(words)


class Node:
    """An object of the tree. Its PUs are those of its children; memory is attached separately."""

    def __init__(self, type_name, parts=(), pus=(), memory=(), index=None, infos=None, **attributes):
        self.type, self.parts, self.memory = type_name, list(parts), list(memory)
        self.index, self.infos, self.attributes = index, infos or {}, attributes
        self.pus = set(pus).union(*(part.pus for part in self.parts))


def pu(number):
    return Node("PU", pus=[number], index=number)


def core(index, *numbers):
    return Node("Core", [pu(number) for number in numbers], index=index)


def cache(kind, size, *parts):
    return Node(kind, parts, cache_size=size, depth=CACHE_DEPTH[kind], cache_linesize=64,
                cache_associativity=16, cache_type=0)


def package(index, model, parts, memory=()):
    return Node("Package", parts, memory=memory, index=index, infos={"CPUModel": model})


def group(index, parts, memory=()):
    return Node("Group", parts, memory=memory, index=index, kind=1001, subkind=0)


def numa(index, size, subtype=None, pus=None, **infos):
    """Memory local to the object to which it is attached, or to `pus` if they differ."""
    attributes = {"local_memory": size}
    if subtype:
        attributes["subtype"] = subtype
    return Node("NUMANode", index=index, pus=pus or (), infos=infos, own_pus=pus is not None,
                **attributes)


def memory_below(node):
    found = {memory.index for memory in node.memory}
    return found.union(*(memory_below(part) for part in node.parts))


class Writer:
    def __init__(self):
        self.lines = ['<?xml version="1.0" encoding="UTF-8"?>',
                      '<!DOCTYPE topology SYSTEM "hwloc2.dtd">', '<topology version="2.0">']
        self.count = 0

    def node(self, node, depth, near, extra):
        """`near` is the memory of the enclosing objects; `extra` are more attributes."""
        self.count += 1
        near = near | {memory.index for memory in node.memory}
        nodes = memory_below(node) or near
        attributes = dict(node.attributes)
        attributes.pop("own_pus", None)
        if node.type == "NUMANode":
            nodes = {node.index}
        fields = {"type": node.type, "os_index": node.index, "cpuset": bitmap(node.pus),
                  "complete_cpuset": bitmap(node.pus), "nodeset": bitmap(nodes),
                  "complete_nodeset": bitmap(nodes), "gp_index": self.count, **attributes, **extra}
        text = " ".join(f'{key}="{value}"' for key, value in fields.items() if value is not None)
        indent = "  " * depth
        inner = [*node.memory, *node.parts]
        if not inner and not node.infos:
            self.lines.append(f"{indent}<object {text}/>")
            return
        self.lines.append(f"{indent}<object {text}>")
        for key, value in node.infos.items():
            self.lines.append(f'{indent}  <info name="{key}" value="{value}"/>')
        for memory in node.memory:
            if not memory.attributes["own_pus"]:
                memory.pus = node.pus
            self.node(memory, depth + 1, set(), {})
        for part in node.parts:
            self.node(part, depth + 1, near, {})
        self.lines.append(f"{indent}</object>")


def distances(numbers, rows):
    indexes = " ".join(map(str, numbers)) + " "
    values = " ".join(str(value) for row in rows for value in row) + " "
    return [f'  <distances2 type="NUMANode" nbobjs="{len(numbers)}" kind="5" name="NUMALatency" '
            'indexing="os">',
            f'    <indexes length="{len(indexes)}">{indexes}</indexes>',
            f'    <u64values length="{len(values)}">{values}</u64values>', "  </distances2>"]


def cpukind(pus, efficiency, **infos):
    return [f'  <cpukind cpuset="{bitmap(pus)}" forced_efficiency="{efficiency}">',
            *(f'    <info name="{key}" value="{value}"/>' for key, value in infos.items()),
            "  </cpukind>"]


def write(name, parts, memory=(), offline=(), allowed=None, architecture="x86_64", tail=()):
    root = Node("Machine", parts, memory=memory, index=0, infos={"Architecture": architecture})
    nodes = bitmap(memory_below(root))
    writer = Writer()
    writer.node(root, 1, set(),
                {"complete_cpuset": bitmap(root.pus | set(offline)),
                 "allowed_cpuset": bitmap(root.pus if allowed is None else allowed),
                 "allowed_nodeset": nodes})
    writer.lines += [*tail, "</topology>", ""]
    path = pathlib.Path(__file__).parent / f"{name}.xml"
    path.write_text("\n".join(writer.lines), encoding="utf-8")


def smt_core(number, threads, cores):
    """Linux numbers the first threads of all cores, then the second ones, and so on."""
    return core(number, *(number + thread * cores for thread in range(threads)))


def epyc_nps1_smt():
    """Two sockets of 8 dies x 8 cores, one NUMA node per socket, SMT on."""
    def socket(index):
        dies = [cache("L3Cache", 32 * MIB,
                      *(smt_core(64 * index + 8 * die + c, 2, 128) for c in range(8)))
                for die in range(8)]
        return package(index, "AMD EPYC 7763 64-Core Processor", dies, [numa(index, 256 * GIB)])
    write("epyc-2x64-nps1-smt", [socket(0), socket(1)],
          tail=distances([0, 1], [[10, 32], [32, 10]]))


def xeon_8_sockets():
    """Eight sockets of ten cores with SMT; a socket reaches three others directly, the rest in two hops."""
    def socket(index):
        cores = [smt_core(10 * index + c, 2, 80) for c in range(10)]
        return package(index, "Intel(R) Xeon(R) CPU           E7- 8850  @ 2.00GHz",
                       [cache("L3Cache", 24 * MIB, *cores)], [numa(index, 16 * GIB)])
    def distance(a, b):
        if a == b:
            return 10
        return 17 if bin(a ^ b).count("1") == 1 else 28
    rows = [[distance(a, b) for b in range(8)] for a in range(8)]
    write("xeon-8x10-smt", [socket(i) for i in range(8)], tail=distances(list(range(8)), rows))


def hybrid_desktop():
    """Eight performance cores with SMT, two clusters of four efficient cores that share an L2."""
    big = [cache("L2Cache", 1280 * 1024, core(4 * c, 2 * c, 2 * c + 1)) for c in range(8)]
    small = [cache("L2Cache", 2 * MIB, *(core(32 + 4 * k + c, 16 + 4 * k + c) for c in range(4)))
             for k in range(2)]
    socket = package(0, "12th Gen Intel(R) Core(TM) i9-12900", [
        cache("L3Cache", 30 * MIB, *big, *small)])
    write("hybrid-8p-8e", [socket], [numa(0, 64 * GIB)],
          tail=[*cpukind(range(16, 24), 0, FrequencyMaxMHz=3800, CoreType="IntelAtom"),
                *cpukind(range(16), 1, FrequencyMaxMHz=5100, CoreType="IntelCore")])


def boost_kinds():
    """Cores that differ only in their maximum frequency are of one kind."""
    cores = [core(c, c) for c in range(8)]
    socket = package(0, "Intel(R) Xeon(R) W-2245 CPU @ 3.90GHz", [cache("L3Cache", 16 * MIB, *cores)])
    write("favoured-cores", [socket], [numa(0, 64 * GIB)],
          tail=[*cpukind([0, 1, 2, 5, 6, 7], 0, FrequencyMaxMHz=4500),
                *cpukind([3, 4], 1, FrequencyMaxMHz=4700)])


def arm_big_little():
    """Four small and four big cores, one L2 per cluster, no L3; kinds by scheduler capacity."""
    clusters = [cache("L2Cache", size, *(core(c, c) for c in cores))
                for size, cores in ((512 * 1024, range(4)), (2 * MIB, range(4, 8)))]
    write("arm-big-little", [package(0, "Cortex-A72", clusters)], [numa(0, 8 * GIB)],
          architecture="aarch64",
          tail=[*cpukind(range(4), 0, LinuxCapacity=446),
                *cpukind(range(4, 8), 1, LinuxCapacity=1024)])


def offline_cores():
    """SMT turned off at run time: every second thread is offline, and also one core."""
    online = [c for c in range(8) if c != 5]
    sockets = [package(s, "Intel(R) Xeon(R) Silver 4110 CPU @ 2.10GHz",
                       [cache("L3Cache", 11 * MIB, *(core(c, c) for c in online if c // 4 == s))],
                       [numa(s, 32 * GIB)]) for s in range(2)]
    write("smt-and-a-core-offline", sockets, offline=[5, *range(8, 16)],
          tail=distances([0, 1], [[10, 21], [21, 10]]))


def cgroup():
    """A batch job that may use half of each socket of a 2 x 8 machine."""
    sockets = [package(s, "Intel(R) Xeon(R) CPU E5-2620 v4 @ 2.10GHz",
                       [cache("L3Cache", 20 * MIB, *(core(c, 8 * s + c) for c in range(8)))],
                       [numa(s, 32 * GIB)]) for s in range(2)]
    write("cgroup-half-of-2x8", sockets, allowed=[*range(4), *range(8, 12)])


def hbm():
    """One socket of four NUMA nodes, each with DRAM and high-bandwidth memory, and a common L3."""
    quarters = [group(q, [core(14 * q + c, 14 * q + c) for c in range(14)],
                      [numa(q, 32 * GIB, MemoryTier="DRAM"),
                       numa(4 + q, 16 * GIB, subtype="HBM", MemoryTier="HBM")])
                for q in range(4)]
    write("xeon-hbm-snc4", [package(0, "Intel(R) Xeon(R) CPU Max 9480", [
        cache("L3Cache", 112 * MIB, *quarters)])])


def cxl():
    """Two sockets, a CXL card near the first one, and one that is near no processor."""
    sockets = []
    for s in range(2):
        memory = [numa(s, 128 * GIB, MemoryTier="DRAM")]
        if s == 0:
            memory.append(numa(2, 256 * GIB, MemoryTier="CXL-DRAM"))
        cores = [core(8 * s + c, 8 * s + c) for c in range(8)]
        sockets.append(package(s, "Intel(R) Xeon(R) 6710E", [cache("L3Cache", 96 * MIB, *cores)], memory))
    write("cxl-2x8", sockets, [numa(3, 512 * GIB, pus=[])],
          tail=distances([0, 2, 1, 3], [[10, 14, 21, 24], [14, 10, 24, 26], [21, 24, 10, 24],
                                        [24, 26, 24, 10]]))


def uneven():
    """A package whose second L3 has lost two of its four cores."""
    def l3(*numbers):
        return cache("L3Cache", 16 * MIB, *(core(n, n) for n in numbers))
    write("uneven-8-and-6", [
        package(0, "AMD EPYC 7262 8-Core Processor", [l3(0, 1, 2, 3), l3(4, 5, 6, 7)], [numa(0, 64 * GIB)]),
        package(1, "AMD EPYC 7262 8-Core Processor", [l3(8, 9, 10, 11), l3(12, 13)], [numa(1, 64 * GIB)])])


def dead_die():
    """Two packages of two dies, one dead. Linux hides a level with only one child."""
    def die(index, *numbers):
        return Node("Die", [cache("L3Cache", 16 * MIB, *(core(n, n) for n in numbers))], index=index)
    model = "Intel(R) Xeon(R) Platinum 9242 CPU @ 2.30GHz"
    write("dead-die", [
        package(0, model, [die(0, 0, 1, 2, 3), die(1, 4, 5, 6, 7)], [numa(0, 96 * GIB)]),
        package(1, model, [die(0, 8, 9, 10, 11)], [numa(1, 96 * GIB)])])


def knights_landing():
    """64 cores x 4 threads in tiles of two that share an L2; on-package memory is a node."""
    tiles = [cache("L2Cache", MIB, smt_core(2 * t, 4, 64), smt_core(2 * t + 1, 4, 64))
             for t in range(32)]
    write("knl-64x4-flat", [package(0, "Intel(R) Xeon Phi(TM) CPU 7210 @ 1.30GHz", tiles)],
          [numa(0, 96 * GIB), numa(1, 16 * GIB, subtype="MCDRAM")],
          tail=distances([0, 1], [[10, 31], [31, 10]]))


def arm_server():
    """80 cores with private L2 caches, which share only the mesh."""
    cores = [cache("L2Cache", MIB, core(c, c)) for c in range(80)]
    write("arm-80-no-l3", [package(0, "Neoverse-N1", cores)], [numa(0, 256 * GIB)],
          architecture="aarch64")


def arm_clusters():
    """Two sockets of two NUMA dies; cores in clusters of four, which Linux calls a group."""
    def die(index):
        clusters = [group(8 * index + k, [core(32 * index + 4 * k + c, 32 * index + 4 * k + c)
                                          for c in range(4)]) for k in range(8)]
        return cache("L3Cache", 32 * MIB, *clusters)
    def socket(index):
        dies = []
        for d in (2 * index, 2 * index + 1):
            whole = die(d)
            whole.memory = [numa(d, 64 * GIB)]
            dies.append(whole)
        return package(index, "Kunpeng-920", dies)
    rows = [[10, 12, 20, 22], [12, 10, 22, 24], [20, 22, 10, 12], [22, 24, 12, 10]]
    write("kunpeng-2x64", [socket(0), socket(1)], architecture="aarch64",
          tail=distances([0, 1, 2, 3], rows))


def desktop():
    """Four cores with SMT, numbered as on a desktop."""
    cores = [smt_core(c, 2, 4) for c in range(4)]
    write("i7-6700", [package(0, "Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz", [
        cache("L3Cache", 8 * MIB, *(cache("L2Cache", 256 * 1024, c) for c in cores))])],
          [numa(0, 16 * GIB)])


def one_core():
    write("one-core", [core(0, 0)], [numa(0, GIB)])


if __name__ == "__main__":
    for make in (epyc_nps1_smt, xeon_8_sockets, hybrid_desktop, boost_kinds, arm_big_little,
                 offline_cores, cgroup, hbm, cxl, uneven, dead_die, knights_landing, arm_server,
                 arm_clusters, desktop, one_core):
        make()
