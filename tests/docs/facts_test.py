#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that everything that the documents refer to exists: links, make targets, commands, presets, machine files.
Also checks that the pictures of ratios show the results that they are named after, that the citation has this version
and these papers, and that no file names a package server, which is a setting of the machine."""
import json
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import huddle as front_end  # noqa: E402
from huddle.words import ratio_text  # noqa: E402

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)
PATH = re.compile(r"(?:tests|src|docs|scripts|packaging|cmake)/[\w./-]+")
CODE = re.compile(r"`([^`\n]+)`")
SERVER = re.compile(r"https?://(?:deb|security|archive|ftp|snapshot|pypi|files|registry)\.[\w.-]+")
SHOWN_SOURCE = re.compile(r"^```c(pp)?\b.*?^```$", re.M | re.S)  # brackets in it are not links


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def files(*patterns):
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(listing, cwd=ROOT, text=True, stdout=subprocess.PIPE,
                           check=True).stdout.split()
    return [ROOT / name for name in names]


def documents():
    return files("*.md")


def named_servers():
    for file in files():
        for server in SERVER.findall(file.read_text(encoding="utf-8", errors="ignore")):
            yield f"{file.relative_to(ROOT)} names {server}; the machine's lists have an archive"


def anchors(text):
    """Returns the anchors of a document's headings, as GitHub and GitLab generate them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in HEADING.findall(text)}


def dead_links(document, text):
    for path, anchor in LINK.findall(SHOWN_SOURCE.sub("", text)):
        if "://" in path:
            continue
        target = document.parent / path if path else document
        if not target.exists():
            yield f"the link to {path} leads nowhere"
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"the link to {path}#{anchor} leads to no heading"


def missing_files(text):
    for code in CODE.findall(text):
        if PATH.fullmatch(code) and not (ROOT / code).exists():
            yield f"there is no {code}"


def unknown_words(text, known):
    """Yields code such as `make demo` or `huddle topo` whose second word is unknown."""
    for code in CODE.findall(text):
        words = code.split()
        if len(words) > 1 and words[0] in known and re.fullmatch(r"[a-z][a-z-]*", words[1]):
            if words[1] not in known[words[0]]:
                yield f"`{code}`: {words[0]} has no '{words[1]}'"


def known_words(huddle):
    makefile = text_of("Makefile")
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.M).group(1).split()
    text = subprocess.run([huddle, "--help"], text=True, stdout=subprocess.PIPE, check=True).stdout
    commands = re.findall(r"^  ([a-z]+)  ", text, re.M)
    assert targets and commands, "no targets or no commands found"
    return {"make": set(targets), "huddle": set(commands)}


def results_of_mpis():
    return sorted((ROOT / "bench/results").glob("*-ranks*.json"))


def unpictured():
    pages = {"docs/machines.md": sorted((ROOT / "machines").glob("*.toml")),
             "docs/measurements.md": results_of_mpis()}
    for page, pictured in pages.items():
        text = text_of(page)
        for file in pictured:
            if f"(pictures/{file.stem}.svg)" not in text:
                yield f"{page}: no picture of {file.name}; run make pictures and add it"


def stale_pictures():
    """Yields the pictures whose ratios differ from those of their results, operation by operation. Other content and
    positions may depend on the version of matplotlib."""
    for file in results_of_mpis():
        drawn = ROOT / f"docs/pictures/{file.stem}.svg"
        if not drawn.exists():
            yield f"docs/pictures has no picture of {file.name}; run make pictures"
            continue
        results = front_end.load(file)
        ratios = []
        for operation in results.operations:
            points = results.of(operation)
            ratios += [ratio_text(point.ratio.middle) + point.marks for point in points]
            ratios.append(ratio_text(results.mean_ratio(operation)))
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn.read_text(encoding="utf-8"))
        if texts[-len(ratios):] != ratios:  # the names of rows and columns come before
            yield f"docs/pictures/{drawn.name} shows other ratios than {file.name}; make pictures"


def stale_citation():
    cited = text_of("CITATION.cff")
    version = re.search(r"^project\(huddle VERSION ([\d.]+)", text_of("CMakeLists.txt"), re.M)[1]
    if f"\nversion: {version}\n" not in cited:
        yield f"CITATION.cff is not of version {version}"
    # Authors: *Title*. A title may continue on the next line.
    papers = re.findall(r"^[A-Z]\. [^*]*: \*([^*]+)\*", text_of("docs/papers.md"), re.M)
    titles = [" ".join(title.split()) for title in papers]
    cited_titles = re.findall(r"^    title: (.*)$", cited, re.M)
    if not titles or titles != cited_titles:
        yield f"CITATION.cff cites {cited_titles}, docs/papers.md is about {titles}"


TRUSTED = re.compile(r"(\d+) points\), half of all predictions are off by more than (\d+) %,\s+"
                     r"and (\d+) points by more than a factor of 2")


def stale_error():
    """Yields a finding if docs/model.md or the code has a prediction error that differs from that of the results."""
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
    code = (ROOT / "src/runtime/select/model_error.cc").read_text(encoding="utf-8")
    if f"error_of_compared_predictions = {found[1] / 100};" not in code:
        yield f"src/runtime/select/model_error.cc: the median error is {found[1] / 100}"


def main():
    known = known_words(sys.argv[1])
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    names = {preset["name"] for preset in presets["configurePresets"]}
    findings = [*unpictured(), *stale_pictures(), *stale_citation(), *stale_error(), *named_servers()]
    for document in documents():
        text = document.read_text(encoding="utf-8")
        wrong = [*dead_links(document, text), *missing_files(text), *unknown_words(text, known)]
        wrong += [f"there is no preset {name}" for name in re.findall(r"--preset ([a-z0-9]+)", text)
                  if name not in names]
        findings += [f"{document.relative_to(ROOT)}: {what}" for what in wrong]
    print("\n".join(findings) if findings else f"{len(documents())} documents hold true")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
