#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks which headers the sources of a module include.

A module includes only the modules that src/CMakeLists.txt allows it to use, which must be declared before it. Only the
files below may include large headers of other libraries, and only src/runtime/memory and src/runtime/context processor
intrinsics.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import dependencies  # noqa: E402

# Headers of other libraries, and the only files that may include them.
KEPT_IN = {
    "hwloc.h": {"src/model/machine/discover.cc"},
    "hwloc/": {"src/model/machine/discover.cc"},
    "toml++/": {"src/model/machine/toml_reader.cc", "src/common/settings/settings_file.cc",
               "src/mpi/standalone/toml.cc"},
    "CLI/": {"src/tools/cli/parse.cc"},
    "simgrid/": {"src/simulate/network/simgrid/main.cpp", "src/simulate/network/simgrid/platform.h"},
    "smpi/": {"src/simulate/network/simgrid/smpi_ns.cc"},
}
# Only files with these endings may include the JSON library, which takes seconds to compile.
JSON_ENDINGS = ("_json.cc", "_json.h")
INTRINSICS = re.compile(r"(x86intrin|[a-z]mmintrin|immintrin|arm_neon)\.h")
INTRINSICS_FOLDERS = ("src/runtime/memory/", "src/runtime/context/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def wrong_declarations(modules):
    """Yields each dependency on a module that is not declared before its user, and each missing folder."""
    before = set()
    for module in modules:
        if not (ROOT / "src" / module.folder).is_dir():
            yield f"src/CMakeLists.txt: there is no folder src/{module.folder}"
        for name in sorted(module.may_include - before):
            yield f"src/CMakeLists.txt: {module.folder} uses {name}, which is not declared before it"
        if module.name in before:
            yield f"src/CMakeLists.txt: two modules have the name {module.name}"
        before.add(module.name)


def findings_of(path, modules):
    """Yields 'file:line: what is wrong' for one source file."""
    relative = path.relative_to(ROOT).as_posix()
    module = dependencies.module_of(relative.removeprefix("src/"), modules)
    if module is None:
        yield f"{relative}: belongs to no module of src/CMakeLists.txt"
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        target = dependencies.module_of(header, modules)
        if target is not None and target is not module and target.name not in module.may_include:
            yield (f"{relative}:{number}: {module.folder} does not use {target.folder} ({header}): add {target.name} to "
                   "its USES in src/CMakeLists.txt if it should")
        for prefix, homes in KEPT_IN.items():
            if header.startswith(prefix) and relative not in homes:
                yield f"{relative}:{number}: only {', '.join(sorted(homes))} may include {header}"
        if header.startswith("nlohmann/") and not relative.endswith(JSON_ENDINGS):
            yield f"{relative}:{number}: only files named *_json may include {header}"
        if INTRINSICS.search(header) and not relative.startswith(INTRINSICS_FOLDERS):
            yield f"{relative}:{number}: only {' and '.join(INTRINSICS_FOLDERS)} may use intrinsics"


def main():
    modules = dependencies.declared_modules()
    sources = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".h", ".cc", ".cpp", ".c"})
    findings = list(wrong_declarations(modules))
    for path in sources:
        findings += findings_of(path, modules)
    try:
        dependencies.heights(dependencies.included_layers(modules))
    except ValueError as error:
        findings.append(f"folders of src: {error}")
    print("\n".join(findings) if findings else f"{len(sources)} files, each includes only what its module uses")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
