#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that libhuddle.so exports the functions of huddle.h and nothing else.

Usage: library_test.py NM READELF LIBRARY HEADER"""
import pathlib
import re
import subprocess
import sys

nm, readelf, library, header = sys.argv[1:5]


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


symbols = [line.split()[-1] for line in output(nm, "-D", "--defined-only", library).splitlines()]
shown = {name.split("@")[0] for name in symbols if not name.startswith("HUDDLE_")}
text = pathlib.Path(header).read_text(encoding="utf-8")
declared = set(re.findall(r"^[\w ]+[ *]+(huddle_\w+)\(", re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.M))
assert len(declared) > 15, f"only {declared} found in {header}"
assert shown == declared, f"shown only: {shown - declared}, declared only: {declared - shown}"

major, minor = (re.search(rf"HUDDLE_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR"))
version = f"{major}.{minor}" if major == "0" else major  # part that changes if programs may break
assert f"huddle_version@@HUDDLE_{version}" in symbols, f"src/runtime/api/exports.map is not of version {version}"
soname = re.search(r"SONAME.*\[(.*)\]", output(readelf, "-d", library)).group(1)
assert soname == f"libhuddle.so.{version}", soname
print(f"{soname} shows {len(shown)} functions")
