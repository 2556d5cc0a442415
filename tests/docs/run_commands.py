#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs the commands that a document shows and compares their output with the document.

A fenced block with the info string `console run` is executed in a scratch folder, in which `machines`, `examples`,
`bench`, `docs` and `tests` are those of the repository, `build/release` is the build, and pkg-config finds an installed
huddle. `console shown` is not executed (it needs root, an MPI, or minutes). A plain `console` block is an error. A
block `c PATH` or `cpp PATH` must have the content of that file of the repository without its licence lines; a line of
`...` stands for omitted lines. `console run needs=PACKAGE` is executed only if the package is the fourth argument,
and then no other blocks are.

sh runs each line `$ command` of a block (which continues while lines end in a backslash). `run status=1` is the exit
status of the last command, 0 by default. The lines below a command are its output, stdout and stderr together: `...`
in a line matches any text, a line of `...` any lines. The output of a command without such lines is not checked.
Lines about the progress of a simulation are ignored: they appear only if the machine is slow.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(.*)$")
INDENTED = re.compile(r"^ +```.")
COMMAND_SECONDS = 120
PROGRESS = re.compile(r"^huddle: .*\d % simulated after .*\n", re.MULTILINE)
LICENCE = re.compile(r"(?:.*\n){2}(?://\n)?")


def blocks_of(text):
    """Yields (line number, info words, lines) of each fenced block."""
    start, info, lines = None, None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and start is None:
            start, info, lines = number, fence.group(1).split(), []
        elif fence:
            yield start, info, lines
            start = None
        elif start is not None:
            lines.append(line)


def steps_of(lines):
    """Splits a block into (command, expected output lines)."""
    steps = []
    continued = False
    for line in lines:
        if continued:
            steps[-1][0] += "\n" + line
        elif line.startswith("$ "):
            steps.append([line[2:], []])
        elif steps:
            steps[-1][1].append(line)
        continued = line.endswith("\\") and (continued or line.startswith("$ "))
    return [(command, expected) for command, expected in steps]


def pattern_of(expected):
    """The regular expression that expected output lines stand for."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            pieces = line.rstrip().split("...")
            parts.append(".*?".join(map(re.escape, pieces)) + r"[ ]*\n")
    return re.compile("".join(parts) + r"\Z")


def matches(expected, output):
    if not expected:
        return True
    if output and not output.endswith("\n"):
        output += "\n"
    return pattern_of(expected).match(output) is not None


def run_step(command, expected, status, scratch, environment):
    """Runs one command. Returns what is wrong with its output or status, or None."""
    done = subprocess.run(["sh", "-c", command], cwd=scratch, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=COMMAND_SECONDS, check=False)
    if done.returncode != status:
        return f"$ {command}\nexited with {done.returncode}, not {status}:\n{done.stdout}"
    if not matches(expected, PROGRESS.sub("", done.stdout)):
        return f"$ {command}\nprinted:\n{done.stdout}\nbut the document shows:\n" + "\n".join(expected)
    return None


def shows_its_file(lines, path):
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    return pattern_of(lines).match(text, LICENCE.match(text).end()) is not None


def needs_of(info):
    """Returns the package that a block needs, or None."""
    return next((word.removeprefix("needs=") for word in info if word.startswith("needs=")), None)


def run_document(document, scratch, environment, package=None):
    """Runs the commands that need this package. Returns their number and the findings ('file:line: what is wrong')."""
    text = document.read_text(encoding="utf-8")
    commands = 0
    findings = [f"{document}:{number}: a block that is indented is not executed"
                for number, line in enumerate(text.splitlines(), 1) if INDENTED.match(line)]
    for line, info, lines in blocks_of(text):
        if info[:1] in (["c"], ["cpp"]) and len(info) == 2 and not shows_its_file(lines, scratch / info[1]):
            findings.append(f"{document}:{line}: this is not what {info[1]} says")
        if info[:1] != ["console"]:
            continue
        if info[1:2] not in (["run"], ["shown"]):
            findings.append(f"{document}:{line}: say `console run` or `console shown`")
        if info[1:2] != ["run"] or needs_of(info) != package:
            continue
        statuses = [int(word.removeprefix("status=")) for word in info if word.startswith("status=")]
        steps = steps_of(lines)
        for number, (command, expected) in enumerate(steps, 1):
            status = statuses[0] if statuses and number == len(steps) else 0
            wrong = run_step(command, expected, status, scratch, environment)
            commands += 1
            if wrong:
                findings.append(f"{document}:{line}: {wrong}")
    return commands, findings


def install(huddle, scratch):
    """Installs huddle. Returns the environment variables for building a program against it."""
    prefix = scratch / "installed"
    subprocess.run(["cmake", "--install", str(huddle.parent.parent), "--prefix", str(prefix)],
                   check=True, stdout=subprocess.DEVNULL)
    pkgconfig = next(prefix.rglob("huddle.pc")).parent
    return {"PKG_CONFIG_PATH": str(pkgconfig), "LD_LIBRARY_PATH": str(pkgconfig.parent)}


def clean_environment(huddle, scratch):
    """Returns an environment for plain output and default settings, independent of the user's."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("HUDDLE_") and name != "NO_COLOR"}
    environment.update(PATH=f"{huddle.parent}:{environment['PATH']}", LC_ALL="C.UTF-8",
                       HOME=str(scratch), XDG_CONFIG_HOME=str(scratch / ".config"), COLUMNS="80")
    return environment


def main():
    huddle, root, document = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    package = sys.argv[4] if len(sys.argv) > 4 else None
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for name in ("machines", "examples", "bench", "docs", "tests"):
            (scratch / name).symlink_to(root / name)
        (scratch / "build").mkdir()
        (scratch / "build/release").symlink_to(huddle.parent.parent)
        environment = clean_environment(huddle, scratch)
        if "pkg-config" in document.read_text(encoding="utf-8"):
            environment.update(install(huddle, scratch))
        commands, findings = run_document(document, scratch, environment, package)
    if package and not commands:
        findings.append(f"{document}: no command needs {package}")
    print("\n\n".join(findings) if findings else f"{commands} commands do what {document.name} shows")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
