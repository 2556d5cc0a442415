# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the command huddle report, started by the huddle program that was built."""
import os
import pathlib
import stat
import subprocess

import pytest
from sample import document, film_document, text

HUDDLE = os.environ["TEST_HUDDLE_PROGRAM"]


def report(folder, *words, more=None, **named):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HUDDLE_")}
    environment.update(more or {})
    return subprocess.run([HUDDLE, "report", *words], cwd=folder, text=True, capture_output=True,
                          check=False, env=environment, **named)


@pytest.fixture(name="folder")
def folder_with_results(tmp_path):
    (tmp_path / "bench.json").write_text(text(document()), encoding="utf-8")
    return tmp_path


def test_writes_the_page_beside_the_results_and_prints_its_path(folder):
    ran = report(folder, "bench.json")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "bench.html\n", "")
    assert (folder / "bench.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_writes_to_the_output_option(folder):
    assert report(folder, "bench.json", "--output", "-").stdout.startswith("<!DOCTYPE html>")
    assert report(folder, "--output", "node.html", "bench.json").stdout == "node.html\n"
    assert sorted(path.name for path in folder.iterdir()) == ["bench.json", "node.html"]


def test_draws_the_output_of_watch(folder):
    (folder / "app.json").write_text(text(film_document()), encoding="utf-8")
    ran = report(folder, "app.json")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "app.html\n", "")
    recorded = pathlib.Path(__file__).resolve().parents[2] / "examples/changing-pairs.touches"
    watched = subprocess.run([HUDDLE, "watch", "--replay", recorded, "--machine", "xeon-e5620-2s", "--json"],
                             cwd=folder, text=True, capture_output=True, check=True)
    (folder / "real.json").write_text(watched.stdout, encoding="utf-8")
    assert report(folder, "real.json").returncode == 0
    assert "confirmed by two decisions" in (folder / "real.html").read_text(encoding="utf-8")


def test_output_has_default_permissions(folder):
    report(folder, "bench.json", preexec_fn=lambda: os.umask(0o027))
    assert stat.S_IMODE((folder / "bench.html").stat().st_mode) == 0o640


@pytest.mark.parametrize("given, said", [
    (text({**document(), "schema": 9}), "schema 9 is unknown"),
    (text(document())[:-100], "invalid or incomplete JSON"),
    ("", "the file is empty"),
    ("\0\xff", "not"),
], ids=["schema", "cut", "empty", "binary"])
def test_rejects_unknown_input_with_one_line(folder, given, said):
    (folder / "odd.json").write_text(given, encoding="latin-1")
    ran = report(folder, "odd.json")
    assert ran.returncode == 3
    assert ran.stdout == ""
    assert ran.stderr.startswith("huddle: odd.json: ") and said in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not (folder / "odd.html").exists()


def test_reports_files_that_cannot_be_read_or_written(folder):
    absent = report(folder, "absent.json")
    assert (absent.returncode, absent.stderr) == (3, "huddle: absent.json: No such file or directory\n")
    nowhere = report(folder, "bench.json", "--output", "no/where.html")
    assert (nowhere.returncode, nowhere.stderr) == (1, "huddle: no/where.html: "
                                                       "No such file or directory\n")


def test_works_without_a_writable_home_folder(folder):
    nowhere = {name: "/dev/null/nowhere"
               for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR")}
    ran = report(folder, "bench.json", more=nowhere)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "bench.html\n", "")


def test_ignores_python_modules_in_the_current_folder(folder):
    (folder / "huddle").mkdir()
    (folder / "huddle" / "__init__.py").write_text("raise SystemExit(77)\n", encoding="utf-8")
    (folder / "json.py").write_text("raise SystemExit(77)\n", encoding="utf-8")
    assert report(folder, "bench.json").returncode == 0


def test_accepts_a_file_name_that_looks_like_an_option(folder):
    (folder / "bench.json").rename(folder / "-b.json")
    assert report(folder, "./-b.json").stdout == "./-b.html\n"
