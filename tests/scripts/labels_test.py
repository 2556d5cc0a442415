#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that every test has one kind of label, and that tests/labels.txt lists only tests that exist:
labels_test.py BUILD_FOLDER CTEST [--table]. With --table it prints the number of tests by kind and tier."""
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("unit", "measures", "proof", "style", "docs", "mpi", "lab", "sanitize", "fuzz", "browser")


def labels_of_tests(build, ctest):
    """Returns the labels of each test by its name; a program that is not built has one test, NAME_NOT_BUILT."""
    listing = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True)
    labels = {}
    for test in json.loads(listing.stdout)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        assert test["name"] not in labels, f"two tests are called {test['name']}"
        labels[test["name"]] = set(properties.get("LABELS", []))
    return labels


def patterns():
    """Returns (module, pattern, labels) for each pattern in tests/labels.txt, in its order."""
    for line in (ROOT / "tests/labels.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            module, labels, *filters = line.split()
            for pattern in filters:
                yield module, pattern, set(labels.split(","))


def matches(module, pattern, name):
    # internode.large is a second program, whose tests have the prefix of the first.
    prefix = module.removesuffix(".large") + "."
    words = "".join(".*" if letter == "*" else re.escape(letter) for letter in pattern)
    return name.startswith(prefix) and re.fullmatch(words, name[len(prefix):]) is not None


def problems(labels):
    found = []
    for name, of_test in sorted(labels.items()):
        kinds = of_test & set(KINDS)
        if name.endswith("_NOT_BUILT"):
            continue
        if len(kinds) != 1:
            found.append(f"{name} has {len(kinds)} kinds of label ({', '.join(sorted(of_test)) or 'none'}); "
                         "list its suite in tests/labels.txt or set LABELS where it is added")
        elif of_test - kinds - {"deep"}:
            found.append(f"{name} has an unknown label: {', '.join(sorted(of_test - kinds))}")
    is_built = not any(name.endswith("_NOT_BUILT") for name in labels)
    for module, pattern, of_line in patterns():
        fits = [name for name in labels if matches(module, pattern, name)]
        if is_built and not fits:
            found.append(f"tests/labels.txt: no test of {module} matches {pattern}")
        elif is_built and not any(labels[name] == of_line for name in fits):
            found.append(f"tests/labels.txt: earlier lines cover all tests that match {module} {pattern}")
    return found


def table(labels):
    tiers = {"make test": lambda of_test: "deep" not in of_test, "make test-deep": lambda of_test: "deep" in of_test}
    rows = [("kind", *tiers)]
    for kind in KINDS:
        rows.append((kind, *(str(sum(kind in of_test and runs(of_test) for of_test in labels.values()))
                             for runs in tiers.values())))
    rows.append(("all", *(str(sum(runs(of_test) for of_test in labels.values())) for runs in tiers.values())))
    return "\n".join(f"{kind:<10}{first:>10}{second:>16}" for kind, first, second in rows)


def main():
    labels = labels_of_tests(sys.argv[1], sys.argv[2])
    if "--table" in sys.argv:
        print(table(labels))
        return 0
    found = problems(labels)
    print("\n".join(found) or f"{len(labels)} tests have one kind of label each")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
