#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""What the documents point at is there: links, make targets, commands, presets, machine files. What
README says was measured is what the file that it names holds."""
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"`([^`\n]+)`")
SHOWN_SOURCE = re.compile(r"^```c(pp)?\b.*?^```$", re.M | re.S)  # brackets in it are no links


def documents():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                           cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True).stdout.split()
    return [ROOT / name for name in names]


def dead_links(document, text):
    for target in LINK.findall(SHOWN_SOURCE.sub("", text)):
        if "://" not in target and not (document.parent / target).exists():
            yield f"the link to {target} leads nowhere"


def unknown_words(text, known):
    """Words of code such as `make demo` or `huddle topo` whose second word nobody knows."""
    for code in CODE.findall(text):
        words = code.split()
        if len(words) > 1 and words[0] in known and re.fullmatch(r"[a-z][a-z-]*", words[1]):
            if words[1] not in known[words[0]]:
                yield f"`{code}`: {words[0]} has no '{words[1]}'"


def known_words(huddle):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.M).group(1).split()
    text = subprocess.run([huddle, "--help"], text=True, stdout=subprocess.PIPE, check=True).stdout
    commands = re.findall(r"^  ([a-z]+)  ", text, re.M)
    assert targets and commands, "no targets or no commands found"
    return {"make": set(targets), "huddle": set(commands)}


def unpictured_machines():
    guide = (ROOT / "docs/guide.md").read_text(encoding="utf-8")
    for machine in sorted((ROOT / "machines").glob("*.toml")):
        if f"(pictures/{machine.stem}.svg)" not in guide:
            yield f"docs/guide.md: no picture of {machine.name}; run make pictures and add it"


RESULTS = re.compile(r"\]\((bench/results/\S+\.json)\), (\d+) of (\d+) points below 0\.9\):\n\n"
                     r"\| (.*) \|\n\S+\n\| (.*) \|\n")
SPOKEN = {"broadcast": "bcast", "reduce-scatter": "reduce_scatter_block"}


def stale_ratios():
    tables = RESULTS.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {file.endswith("-heap.json") for file, *_ in tables} == {True, False}, "README's ratios are not found"
    for table in tables:
        yield from stale_table(*table)


def stale_table(file, below, points, names, means):
    """README's geometric means, and how many points are below the bar."""
    ratios = {}
    for point in json.loads((ROOT / file).read_text(encoding="utf-8"))["points"]:
        ratios.setdefault(point["operation"], []).append(point["estimate"]["ratio"])
    measured = {name: f"{math.exp(sum(map(math.log, of)) / len(of)):.2f}"
                for name, of in ratios.items()}
    said = dict(zip((SPOKEN.get(name, name) for name in names.split(" | ")), means.split(" | ")))
    if said != measured:
        yield f"README.md: {said}, but {file} holds {measured}"
    every = [ratio for of in ratios.values() for ratio in of]
    if (int(below), int(points)) != (sum(ratio < 0.9 for ratio in every), len(every)):
        yield f"README.md: {below} of {points} points below 0.9 is not what {file} holds"


TRUSTED = re.compile(r"(\d+) points\), half of all predictions are off by more than (\d+) %,\s+"
                     r"and (\d+) points by more than a factor of 2")


def stale_error():
    """How far docs/model.md and the code say that predictions can be trusted, and what the results say."""
    off = []
    for file in sorted((ROOT / "bench/results").glob("*-peers-*.json")):
        for point in json.loads(file.read_text(encoding="utf-8"))["points"]:
            if "choice" in point:
                ratio = point["choice"]["predicted_ns"] / point["huddle_ns"]
                off.append(max(ratio, 1 / ratio) - 1)
    found = (len(off), round(100 * statistics.median(off)), sum(one > 1 for one in off))
    said = TRUSTED.search((ROOT / "docs/model.md").read_text(encoding="utf-8"))
    if not said or tuple(map(int, said.groups())) != found:
        yield f"docs/model.md: points, error in %, points beyond a factor of 2 are {found}"
    code = (ROOT / "src/select/model_error.cc").read_text(encoding="utf-8")
    if f"error_of_compared_predictions = {found[1] / 100};" not in code:
        yield f"src/select/model_error.cc: the median error is {found[1] / 100}"


def main():
    known = known_words(sys.argv[1])
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    names = {preset["name"] for preset in presets["configurePresets"]}
    findings = list(unpictured_machines()) + list(stale_ratios()) + list(stale_error())
    for document in documents():
        text = document.read_text(encoding="utf-8")
        wrong = list(dead_links(document, text)) + list(unknown_words(text, known))
        wrong += [f"there is no preset {name}" for name in re.findall(r"--preset ([a-z0-9]+)", text)
                  if name not in names]
        findings += [f"{document.relative_to(ROOT)}: {what}" for what in wrong]
    print("\n".join(findings) if findings else f"{len(documents())} documents hold true")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
