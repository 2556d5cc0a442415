# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Writes down where processes are or were: stacks of live processes, and of core files with the build ids of the
program and its libraries."""
import pathlib
import re
import shutil
import subprocess

ALL_STACKS = ["-ex", "thread apply all bt"]
# The file of a mapping, as gdb prints the mappings of a core file.
MAPPED_FILE = re.compile(r"^ +0x\w+ +0x\w+ +0x\w+ +0x\w+ +(/.+)$", re.MULTILINE)
BUILD_ID = re.compile(r"Build ID: (\w+)")


def output_of(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, errors="replace").stdout


def of_processes(pids, folder):
    """Writes the stacks of these processes to FOLDER/stacks-PID."""
    for pid in pids:
        proc = pathlib.Path("/proc") / str(pid)
        try:
            words = (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            waits = "\n".join(f"thread {task.name}: {(task / 'syscall').read_text()}" for task in (proc / "task").iterdir())
        except OSError:
            continue  # has ended
        shown = output_of("gdb", "-batch", "-p", pid, *ALL_STACKS) if shutil.which("gdb") else "gdb is not installed\n"
        (folder / f"stacks-{pid}").write_text(f"{words}\n{waits}\n{shown}", encoding="utf-8")


def of_cores(folder):
    """Writes FOLDER/CORE.build-ids and FOLDER/CORE.stacks for each core file. Needs gdb."""
    for core in sorted(folder.glob("core*")) if shutil.which("gdb") else []:
        # In the order of addresses, so the program comes first.
        mapped = list(dict.fromkeys(MAPPED_FILE.findall(output_of("gdb", "-batch", "-ex", "info proc mappings", "-c", core))))
        core.with_name(f"{core.name}.build-ids").write_text("".join(map(build_id_line, mapped)), encoding="utf-8")
        shown = output_of("gdb", "-batch", *ALL_STACKS, "-ex", "info registers", "-ex", "x/4i $pc", *mapped[:1], core)
        core.with_name(f"{core.name}.stacks").write_text(shown, encoding="utf-8")


def build_id_line(path):
    found = BUILD_ID.search(output_of("readelf", "--notes", path))
    return f"{found[1]} {path}\n" if found else ""
