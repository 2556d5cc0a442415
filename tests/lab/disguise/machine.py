#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Writes files that describe another machine: machine.py FOLDER --cores N [--threads N] [--nodes N]

Writes FOLDER/cpuinfo, FOLDER/cpu and FOLDER/node, to be mounted over /proc/cpuinfo,
/sys/devices/system/cpu and /sys/devices/system/node. They describe a fictitious processor without a
hypervisor, with the CPU flags of this machine, because programs use its instructions.
"""
import argparse
import pathlib

MODEL = {"vendor_id": "GenuineDisguise", "cpu family": "6", "model": "250", "stepping": "9",
         "model name": "Disguise(R) Nobody(R) Processor 4242 @ 1.23GHz", "cpu MHz": "1230.000",
         "cache size": "12288 KB"}
KIB = 1024


class Machine:
    """A topology in which the threads of a core, and the cores of a node, have consecutive numbers."""

    def __init__(self, cores, threads, nodes):
        self.threads, self.nodes = threads, nodes
        self.per_node = cores // nodes * threads
        self.all = range(cores * threads)

    def core(self, pu):
        return pu // self.threads

    def node(self, pu):
        return pu // self.per_node

    def in_core(self, pu):
        return [other for other in self.all if self.core(other) == self.core(pu)]

    def in_node(self, node):
        return [pu for pu in self.all if self.node(pu) == node]


def text_list(pus):
    return ",".join(map(str, pus))


def text_map(pus):
    return f"{sum(1 << pu for pu in pus):08x}"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def cpuinfo_of(machine, real):
    """Returns /proc/cpuinfo with every processor described like the first real one."""
    fields = [line.partition(":") for line in real.split("\n\n")[0].splitlines()]
    fields = [(name.strip(), value.strip()) for name, _, value in fields]
    processors = []
    for pu in machine.all:
        own = {**MODEL, "processor": pu, "physical id": machine.node(pu), "core id": machine.core(pu),
               "siblings": machine.per_node, "cpu cores": machine.per_node // machine.threads,
               "apicid": pu, "initial apicid": pu}
        lines = []
        for name, value in fields:
            if name == "flags":
                value = " ".join(word for word in value.split() if word != "hypervisor")
            lines.append(f"{name}\t: {own.get(name, value)}")
        processors.append("\n".join(lines))
    return "\n\n".join(processors) + "\n"


def write_processor(folder, machine, pu):
    core, node = machine.in_core(pu), machine.in_node(machine.node(pu))
    write(folder / "online", 1)
    groups = {"core_cpus": core, "thread_siblings": core, "cluster_cpus": core, "die_cpus": node,
              "package_cpus": node, "core_siblings": node}
    for name, pus in groups.items():
        write(folder / "topology" / name, text_map(pus))
        write(folder / "topology" / f"{name}_list", text_list(pus))
    for name, number in (("core_id", machine.core(pu)), ("physical_package_id", machine.node(pu)),
                         ("die_id", 0), ("cluster_id", machine.core(pu))):
        write(folder / "topology" / name, number)
    caches = ((1, "Data", 48, core), (1, "Instruction", 32, core), (2, "Unified", 768, core),
              (3, "Unified", 12288, node))
    for index, (level, kind, kib, pus) in enumerate(caches):
        cache = folder / "cache" / f"index{index}"
        for name, value in (("level", level), ("type", kind), ("size", f"{kib}K"), ("id", pus[0]),
                            ("coherency_line_size", 64), ("ways_of_associativity", 12),
                            ("number_of_sets", kib * KIB // 64 // 12), ("physical_line_partition", 1),
                            ("shared_cpu_map", text_map(pus)), ("shared_cpu_list", text_list(pus))):
            write(cache / name, value)


def write_processors(folder, machine):
    for name in ("online", "possible", "present"):
        write(folder / name, f"0-{machine.all[-1]}")
    for name in ("offline", "isolated"):
        write(folder / name, "")
    write(folder / "kernel_max", 8191)
    write(folder / "smt/control", "on" if machine.threads > 1 else "notsupported")
    write(folder / "smt/active", int(machine.threads > 1))
    for pu in machine.all:
        write_processor(folder / f"cpu{pu}", machine, pu)


def write_nodes(folder, machine, real):
    """Writes the NUMA nodes. They share the memory of `real`, this machine's /proc/meminfo."""
    kib = {line.split(":")[0]: int(line.split()[1]) for line in real.splitlines()}
    nodes = range(machine.nodes)
    for name in ("online", "possible", "has_cpu", "has_memory", "has_normal_memory"):
        write(folder / name, text_list(nodes))
    for node in nodes:
        own = folder / f"node{node}"
        write(own / "cpulist", text_list(machine.in_node(node)))
        write(own / "cpumap", text_map(machine.in_node(node)))
        write(own / "distance", " ".join("10" if other == node else "21" for other in nodes))
        write(own / "meminfo", "\n".join(f"Node {node} {name}: {kib[name] // machine.nodes} kB"
                                         for name in ("MemTotal", "MemFree")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=1)
    asked = parser.parse_args()
    machine = Machine(asked.cores, asked.threads, asked.nodes)
    real = {name: pathlib.Path("/proc", name).read_text(encoding="utf-8")
            for name in ("cpuinfo", "meminfo")}
    write(asked.folder / "cpuinfo", cpuinfo_of(machine, real["cpuinfo"]))
    write_processors(asked.folder / "cpu", machine)
    write_nodes(asked.folder / "node", machine, real["meminfo"])


if __name__ == "__main__":
    main()
