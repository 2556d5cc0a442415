#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks which headers the sources of a module include.

A module includes only the modules that its CMakeLists.txt names with USES (or READS, for headers without code), and
those come before it in cmake/Rooms.cmake. Heavy or foreign headers stay in the few files that are there for them.
Processor intrinsics stay in src/memory and src/world/hardware.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

MODULES_IN_ORDER = re.compile(r"^set\(huddle_rooms ([^)]*)\)", re.M)
MODULE = re.compile(r"^huddle_room(?:_of)?\((\w+)([^)]*)\)", re.M)
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


def modules_in_order():
    return MODULES_IN_ORDER.search((ROOT / "cmake/Rooms.cmake").read_text(encoding="utf-8")).group(1).split()


def dependencies():
    """Returns the modules that each module may include, from the CMakeLists.txt of the modules."""
    found = {}
    for file in sorted((ROOT / "src").glob("*/CMakeLists.txt")):
        for name, words in MODULE.findall(file.read_text(encoding="utf-8")):
            lists = {"": []}
            keyword = ""
            for word in words.split():
                if word in ("USES", "READS", "LINKS"):
                    keyword = word
                else:
                    lists.setdefault(keyword, []).append(word)
            found[name] = set(lists.get("USES", [])) | set(lists.get("READS", []))
    return found


def wrong_order(may_include, order):
    """Yields each dependency on a module that does not come before the one that has it."""
    for module, included in may_include.items():
        for one in sorted(included):
            if one not in order[:order.index(module)]:
                yield f"src/{module}/CMakeLists.txt: {one} does not come before {module} in cmake/Rooms.cmake"


def findings_of(path, may_include):
    """Yields 'file:line: what is wrong' for one source file."""
    relative = path.relative_to(ROOT).as_posix()
    module = relative.split("/")[1]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        target = header.split("/")[0]
        if "/" in header and target in may_include and target != module and target not in may_include[module]:
            yield f"{relative}:{number}: {module} may not include {target} ({header}): add it to USES if it should"
        for prefix, homes in KEPT_IN.items():
            if header.startswith(prefix) and relative not in homes:
                yield f"{relative}:{number}: {header} belongs in {', '.join(sorted(homes))}"
        if header.startswith("nlohmann/") and not relative.endswith(JSON_ENDING):
            yield f"{relative}:{number}: {header} belongs in a file named *_json"
        if INTRINSICS.search(header) and not relative.startswith(INTRINSIC_ROOMS):
            yield f"{relative}:{number}: intrinsics belong in {' or '.join(INTRINSIC_ROOMS)}"


def main():
    sources = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".h", ".cc", ".cpp", ".c"})
    may_include, order = dependencies(), modules_in_order()
    unknown = {p.relative_to(ROOT).parts[1] for p in sources} ^ set(may_include) | set(order) ^ set(may_include)
    findings = [f"src/{module}: not in cmake/Rooms.cmake, or without a huddle_room in its CMakeLists.txt"
                for module in sorted(unknown)]
    findings += wrong_order(may_include, order)
    for path in sources:
        findings += findings_of(path, may_include)
    print("\n".join(findings) if findings else f"{len(sources)} files, each includes only what its module uses")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
