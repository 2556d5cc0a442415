# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the package that `pip install ./python` installs."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from sample import ROOT, document, text

HUDDLE = os.environ["TEST_HUDDLE_PROGRAM"]


def run(words, **named):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    done = subprocess.run(words, text=True, capture_output=True, check=False, env=environment, **named)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(name="python", scope="module")
def installed(tmp_path_factory):
    """Returns a Python in which pip has installed the package without a network."""
    folder = tmp_path_factory.mktemp("installed")
    sources = folder / "sources"
    shutil.copytree(ROOT / "python", sources, ignore=shutil.ignore_patterns("__pycache__"))
    run([sys.executable, "-m", "venv", "--system-site-packages", str(folder / "venv")])
    python = folder / "venv/bin/python3"
    run([str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
         "--no-build-isolation", "--disable-pip-version-check", str(sources)])
    return python


def test_installed_package_writes_reports(python, tmp_path):
    results = tmp_path / "bench.json"
    results.write_text(text(document()), encoding="utf-8")
    assert run([str(python), "-m", "huddle.report", str(results)], cwd=tmp_path).endswith("bench.html\n")
    assert run([str(python.parent / "huddle-report"), str(results), "--output", "-"],
               cwd=tmp_path).startswith("<!DOCTYPE html>")


def test_all_modules_are_installed(python):
    folder = pathlib.Path(run([str(python), "-P", "-c", "import huddle; print(huddle.__path__[0])"])
                          .strip())
    here = ROOT / "python/huddle"
    files = {path.relative_to(here) for path in here.rglob("*") if path.suffix in (".py", ".pyi", ".css", ".typed")}
    assert {path for path in files if not (folder / path).exists()} == set()


def test_version_is_that_of_huddle(python):
    version = run([str(python), "-P", "-c", "import huddle; print(huddle.__version__)"]).strip()
    metadata = run([str(python), "-P", "-c",
                    "from importlib.metadata import version; print(version('huddle-hpc'))"]).strip()
    assert version == metadata == re.search(r"huddle (\S+)", run([HUDDLE, "--version"])).group(1)


def test_installed_huddle_writes_reports(tmp_path):
    """`make install` also installs the front end."""
    build = pathlib.Path(HUDDLE).parent.parent
    run(["cmake", "--install", str(build), "--prefix", str(tmp_path / "usr")])
    (tmp_path / "bench.json").write_text(json.dumps(document()), encoding="utf-8")
    assert run([str(tmp_path / "usr/bin/huddle"), "report", "bench.json"],
               cwd=tmp_path) == "bench.html\n"
    assert not list((tmp_path / "usr").rglob("__pycache__"))
