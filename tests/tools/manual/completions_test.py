#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests the built completions in their shells: completions_test.py HUDDLE SHARE_FOLDER

Each shell runs in a terminal that receives the keys of a user.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from terminal import Shell

HUDDLE = sys.argv[1]
SHARE = pathlib.Path(sys.argv[2]).resolve()
BASH = SHARE / "bash-completion/completions/huddle"
ZSH = SHARE / "zsh/site-functions/_huddle"
FISH = SHARE / "fish/vendor_completions.d/huddle.fish"

# The typed keys and the resulting arguments of huddle. If a shell may put an option's value into
# the same word or the next one, the arguments are compared as separate words.
TYPED = [
    ("huddle exp\tallr\t64K --mach\tno\t", "explain allreduce 64K --machine node.toml"),
    ("huddle explain bcast 8 --machine xeon-e562\t", "explain bcast 8 --machine xeon-e5620-2s"),
    ("huddle --col\tnev\tto\t", "--color never topo"),
    ("huddle topo --color=nev\t", "topo --color never"),
    ("huddle run --ops ^barrier,bca\t ./app", "run --ops ^barrier,bcast ./app"),
    ("huddle bench --ops reduce_scatter_\t -n 4", "bench --ops reduce_scatter_block -n 4"),
    ("huddle run --dry\tmylaun\tno\t", "run --dry-run mylauncher node.toml"),
    ("huddle run mylauncher --ver\t", "run mylauncher --ver"),  # its options are not huddle's
    ("huddle config heap-l\t", "config heap-limit"),
    ("huddle bench --peers fol\t", "bench --peers folder"),
    ("huddle bench eng\t--var\t", "bench engine --variants"),
    ("huddle --color never bench --color never comp\tno\tbe\t",
     "--color never bench --color never compare node.toml bench.json"),
    ("huddle report be\t", "report bench.json"),
    ("huddle explain bcast be\t", "explain bcast be"),  # a size is not a file
]


def spelled(arguments):
    return " ".join(word.rstrip("/") for word in " ".join(arguments).replace("=", " ").split())


def help_of(*words):
    return subprocess.run([HUDDLE, *words, "--help"], text=True, capture_output=True, check=True).stdout


def commands(*above):
    """Yields the commands as typed, including subcommands such as "bench engine"."""
    _, _, listed = help_of(*above).partition("Commands:")
    for name in re.findall(r"^  (\w+) ", listed.split("\n\n")[0], re.MULTILINE):
        yield " ".join([*above, name])
        yield from commands(*above, name)


def options_in(help_text):
    found = re.findall(r"^  (-\S+)", help_text, re.MULTILINE)
    return {name for names in found for name in names.split(",")}


class Typing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "work/folder").mkdir(parents=True)
        (self.folder / "bin").mkdir()
        for name in ("node.toml", "bench.json", "folded.txt"):
            (self.folder / "work" / name).touch()
        launcher = self.folder / "bin/mylauncher"
        launcher.write_text("#!/bin/sh\n", encoding="utf-8")
        launcher.chmod(0o755)
        (self.folder / "bin/huddle").symlink_to(pathlib.Path(HUDDLE).resolve())

    def type_in(self, name, setup):
        variables = {"HOME": str(self.folder), "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                     "TERM": "xterm", "LC_ALL": "C.UTF-8", "XDG_DATA_DIRS": f"{SHARE}:/usr/share"}
        shell = Shell(name, self.folder / "work", variables, setup)
        self.addCleanup(shell.close)
        for keys, wanted in TYPED:
            with self.subTest(keys=keys):
                self.assertEqual(spelled(shell.given(keys)), wanted)

    def test_bash(self):
        self.type_in("bash", f". {BASH}\n")

    def test_bash_with_its_other_completions(self):
        loaded = "/usr/share/bash-completion/bash_completion"
        self.assertTrue(pathlib.Path(loaded).exists(), "scripts/install-packages.sh test")
        self.type_in("bash", f". {loaded}\n")  # it finds huddle's completion below XDG_DATA_DIRS

    def test_zsh(self):
        self.type_in("zsh", f"fpath=({ZSH.parent} $fpath)\nautoload -Uz compinit\ncompinit -u -D\n")

    def test_fish(self):
        self.type_in("fish", "")  # it finds huddle's completion below XDG_DATA_DIRS


class Tables(unittest.TestCase):
    def setUp(self):
        self.wanted = {"": options_in(help_of()),
                       **{name: options_in(help_of(*name.split())) for name in commands()}}
        self.assertIn("--version", self.wanted[""])
        self.assertIn("-n", self.wanted["bench"])
        self.assertIn("--variants", self.wanted["bench engine"])

    def test_bash_knows_every_option(self):
        for command, wanted in self.wanted.items():
            script = f'. {BASH}; _huddle_options "{command}"; echo "$words"'
            done = subprocess.run(["bash", "-c", script], text=True, capture_output=True, check=True)
            self.assertEqual(set(done.stdout.split()), wanted, command)

    def test_zsh_knows_every_option(self):
        text = ZSH.read_text(encoding="utf-8")
        for command, wanted in self.wanted.items():
            name = "_".join(["_huddle", *command.split()])
            body = re.search(rf"^{name}\(\) \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL).group(1)
            self.assertEqual(set(re.findall(r"'\([^)]*\)(-[\w-]+)[=+]?\[", body)), wanted, command)

    def test_fish_knows_every_option(self):
        for command, wanted in self.wanted.items():
            found = set()
            for begun in ("-", "--"):
                line = f"huddle {command} {begun}".replace("  ", " ")
                done = subprocess.run(["fish", "--no-config", "-c", f"source {FISH}; complete -C '{line}'"],
                                      text=True, capture_output=True, check=True)
                found |= {candidate.split("\t")[0] for candidate in done.stdout.splitlines()}
            self.assertEqual(found, wanted, command)

    def test_shellcheck_has_no_warnings(self):
        done = subprocess.run(["shellcheck", str(BASH)], text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
