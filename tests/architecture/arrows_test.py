#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The rooms of the house: a file may include only what its room may see.

Three rules, all of them the design's: includes go down only; heavy or foreign headers stay in the few
files that are there for them; processor intrinsics stay in src/memory and src/world/hardware.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Each room and the rooms that it may include. A new room is one line here.
MAY_SEE = {
    "base": set(),
    "settings": {"base"},
    "memory": {"base"},
    "heap": {"base", "settings", "memory"},
    "machine": {"base"},
    "fabric": {"base", "machine"},
    "net": {"base", "memory"},
    "sim": {"base", "machine", "fabric", "net"},
    "place": {"base", "machine"},
    "threads": {"base", "memory", "machine", "place"},
    "picture": {"base", "machine", "net"},
    "single_copy": {"base", "memory"},
    "doctor": {"base", "memory", "machine", "threads", "single_copy"},
    "ucx": {"base", "machine", "doctor"},
    "calibrate": {"base", "memory", "machine", "single_copy"},
    "world": {"base", "memory", "machine", "single_copy"},
    "verify": {"base", "memory", "machine", "single_copy", "world"},
    "node": {"base", "memory", "machine", "single_copy", "world"},
    "select": {"base", "memory", "machine", "single_copy", "world", "node"},
    "predict": {"base", "memory", "machine", "single_copy", "world", "node", "select"},
    "team": {"base", "memory", "machine", "single_copy", "world", "node", "select"},
    "internode": {"base", "memory", "machine", "net", "world", "node", "select", "team"},
    "api": {"base", "settings", "memory", "machine", "world", "node", "select", "team"},
    "mpi": {"base", "settings", "memory", "heap", "machine", "net", "world", "node", "select", "team", "internode"},
    "profile": {"base", "mpi"},
    "launch": {"base", "settings", "heap", "doctor"},
    "bench": {"base", "memory", "machine", "doctor", "calibrate", "single_copy", "world", "node", "select", "predict", "team", "mpi",
              "launch"},
    "reproduce": {"base", "memory", "machine", "fabric", "net", "sim", "place", "ucx", "single_copy", "world", "node", "select", "predict", "bench"},
    "cli": {"base", "settings", "machine", "fabric", "memory", "heap", "net", "sim", "place", "threads", "picture", "doctor", "ucx", "calibrate",
            "single_copy", "world", "node", "select", "predict", "internode", "profile", "launch", "bench", "reproduce"},
    "manual": {"base", "settings", "cli"},
}

# Foreign headers and the only files that may include them.
KEPT_IN = {
    "hwloc.h": {"src/machine/discover.cc"},
    "hwloc/": {"src/machine/discover.cc"},
    "toml++/": {"src/machine/toml_reader.cc", "src/settings/settings_file.cc",
               "src/mpi/standalone/toml.cc"},
    "CLI/": {"src/cli/parse.cc"},
    "simgrid/": {"src/sim/simgrid/main.cpp", "src/sim/simgrid/platform.h"},
    "smpi/": {"src/sim/simgrid/smpi_ns.cc"},
}
# Files of this ending may also include the JSON library; one a command that speaks JSON.
JSON_ENDING = ("_json.cc", "_json.h")
INTRINSICS = re.compile(r"(x86intrin|[a-z]mmintrin|immintrin|arm_neon)\.h")
INTRINSIC_ROOMS = ("src/memory/", "src/world/hardware/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def findings_of(path):
    """Yields 'file:line: what is wrong' for one source file."""
    relative = path.relative_to(ROOT).as_posix()
    room = relative.split("/")[1]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        target = header.split("/")[0]
        if "/" in header and target in MAY_SEE and target != room and target not in MAY_SEE[room]:
            yield f"{relative}:{number}: {room} may not see {target} ({header})"
        for prefix, homes in KEPT_IN.items():
            if header.startswith(prefix) and relative not in homes:
                yield f"{relative}:{number}: {header} belongs in {', '.join(sorted(homes))}"
        if header.startswith("nlohmann/") and not relative.endswith(JSON_ENDING):
            yield f"{relative}:{number}: {header} belongs in a file named *_json"
        if INTRINSICS.search(header) and not relative.startswith(INTRINSIC_ROOMS):
            yield f"{relative}:{number}: intrinsics belong in {' or '.join(INTRINSIC_ROOMS)}"


def main():
    sources = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".h", ".cc", ".cpp", ".c"})
    unknown = {p.relative_to(ROOT).parts[1] for p in sources} - set(MAY_SEE) - {"CMakeLists.txt"}
    findings = [f"src/{room}: a room that MAY_SEE does not name" for room in sorted(unknown)]
    for path in sources:
        findings += findings_of(path)
    print("\n".join(findings) if findings else f"{len(sources)} files, every arrow goes down")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
