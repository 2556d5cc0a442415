#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Finds sentences in comments and documents that break the rules of style in CONTRIBUTING.md.

    prose.py [FOLDER|FILE...]      prints the share of such sentences in each folder
    prose.py --list PATH...        prints the sentences, each with its file, line and rule

The exit status is 1 if the share is above 2 % in a folder of code, or above 4 % in a folder of documents. Folders with
fewer than 100 sentences may contain three. The rules are only hints: a sentence that follows them may still be bad.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CODE_LIMIT, DOCUMENT_LIMIT = 0.02, 0.04
SMALL_FOLDER_SENTENCES, SMALL_FOLDER_FINDINGS = 100, 3
CHECKED = ["src", "include", "tests", "cmake", "scripts", "python", "bench", "docs/design", "docs/architecture.md"]
RULES = {
    "a rank, thread or process is 'it', with a role":
        r"\b(somebody|(?<!as )(?<!user )nobody|anybody|everybody|whoever|whomever|whom|he|him|his)\b|(?<!users )(?<!people )"
        r"(?<!readers )(?<!developers )(?<!person )(?<!user )(?<!anyone )\bwho\b",
    "programs do not talk": r"\b(tells?|told|hears?|heard|says|speaks?|asks|asked)\b",
    "write N, at most or at least": r"\b(so|as) (many|much)\b(?! as possible)",
    "write 'if' for a condition": r"\bwhere (it|they|there|nothing|all|any) (is|are|pays?|costs?|has|have)\b",
    "use the glossary": r"\b(crowded|roll call|business card|notice board|speaker|listener|onlooker|"
                        r"errand|stranger|the house|a room|rooms)\b",
    "name the subject": r"^(Of|What|Whatever|Nothing|Else) [a-z]+ (?!.*\b(is|are|was|were|has|have|does|do|can|may|must|"
                        r"needs?|takes?|runs?|reads?|writes?|contains?|returns?|means?|happens?)\b)",
}
COMPILED = {rule: re.compile(pattern, 0 if pattern.startswith("^") else re.I) for rule, pattern in RULES.items()}
SENTENCE_END = re.compile(r"(?<=[.:;?!])\s+(?=[A-Z`\"'(])")
COMMENT_MARK = {".h": "//", ".cc": "//", ".cpp": "//", ".c": "//", ".py": "#", ".sh": "#", ".cmake": "#", ".txt": "#"}
NOT_PROSE = re.compile(r"SPDX|Copyright|NOLINT|clang-format|shellcheck|noqa|^!|^namespace\b|^[-=*#]+$")


def paragraphs_of_code(text, mark):
    """Yields the number of the first line and the text of each block of comments. Blocks in /* */ count as well."""
    block, start = [], 0
    inside = False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', line).strip()
        comment, after_code = None, False
        if mark == "//" and (inside or bare.startswith("/*")):
            inside = "*/" not in bare
            comment = bare.removeprefix("/*").split("*/")[0].strip(" *")
        elif bare.startswith(mark):
            comment = bare.lstrip(mark).strip()
        elif f" {mark} " in bare:
            comment, after_code = bare.split(f" {mark} ", 1)[1].strip(), True
        is_prose = comment and not NOT_PROSE.search(comment)
        if block and (after_code or not is_prose):
            yield start, " ".join(block)
            block = []
        if is_prose:
            if not block:
                start = number
            block.append(comment)


def paragraphs_of_document(text):
    """Yields the number of the first line and the text of each paragraph, without tables, headings and code."""
    block, start, fenced = [], 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        prose = line.strip() and not fenced and not line.lstrip().startswith(("|", "#", "```", "<!--", "!["))
        new_item = line.lstrip().startswith(("- ", "* ", "1. "))
        if block and (not prose or new_item):
            yield start, " ".join(block)
            block = []
        if prose:
            if not block:
                start = number
            block.append(line.strip().removeprefix("- "))


def sentences(path):
    """Yields the line and the text of each sentence of a file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    mark = COMMENT_MARK.get(path.suffix, "#" if path.name in ("CMakeLists.txt", "Makefile") else None)
    if path.suffix == ".md":
        paragraphs = paragraphs_of_document(text)
    elif mark and (path.suffix != ".txt" or path.name == "CMakeLists.txt"):
        paragraphs = paragraphs_of_code(text, mark)
    else:
        return
    for line, paragraph in paragraphs:
        for sentence in SENTENCE_END.split(re.sub(r"`[^`]*`", "CODE", paragraph)):
            if len(sentence.split()) > 1:
                yield line, sentence


def broken_rule(sentence):
    """Returns the first rule that a sentence breaks, or None."""
    return next((rule for rule, pattern in COMPILED.items() if pattern.search(sentence)), None)


def tracked_files(paths):
    listed = subprocess.run(["git", "ls-files", "-z", "--", *paths], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def folder_of(path):
    """Returns the folder by which a file counts: a module of src, or the second level elsewhere."""
    parts = path.relative_to(ROOT).parts[:-1]
    depth = 3 if parts[:1] in (("src",), ("tests",)) and parts[1:2] in (("runtime",), ("tools",)) else 2
    return "/".join(parts[:depth]) or path.name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=CHECKED, metavar="PATH")
    parser.add_argument("--list", action="store_true", help="print each sentence that breaks a rule")
    options = parser.parse_args()
    total, found = collections.Counter(), collections.Counter()
    for path in tracked_files(options.paths):
        if not path.is_file() or path == pathlib.Path(__file__):
            continue
        for line, sentence in sentences(path):
            total[folder_of(path)] += 1
            rule = broken_rule(sentence)
            if rule:
                found[folder_of(path)] += 1
                if options.list:
                    print(f"{path.relative_to(ROOT)}:{line}: {rule}: {sentence}")
    above = []
    for folder in sorted(total):
        limit = DOCUMENT_LIMIT if folder.startswith("docs") else CODE_LIMIT
        allowed = total[folder] * limit if total[folder] >= SMALL_FOLDER_SENTENCES else SMALL_FOLDER_FINDINGS
        if found[folder] > allowed:
            above.append(folder)
        if not options.list:
            print(f"{folder:<40} {found[folder]:>4} of {total[folder]:>5} sentences"
                  f"{'   too many' if folder in above else ''}")
    if above:
        print(f"prose.py: too many sentences break a rule of CONTRIBUTING.md in {', '.join(above)}; "
              "scripts/prose.py --list FOLDER prints them", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
