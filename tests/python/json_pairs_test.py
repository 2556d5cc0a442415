# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Feeds the JSON output of commands into the commands that read it. The pairs are

    paths, ucx --check, watch, profile (threads), bench   -> report
    run --stats-json                                      -> report
    profile (threads), profile (ranks)                    -> map
    bench                                                 -> bench compare

Pairs that need an MPI run with the first launcher on the PATH."""
import os
import pathlib
import shutil
import subprocess

import pytest

HUDDLE = os.environ["TEST_HUDDLE_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests/tools/ucx/samples"
MACHINE = ("--machine", "amd-epyc-2c-1b1d3050")
# hwloc reads the machine of that file instead of the real one.
RECORDED = {"HWLOC_XMLFILE": str(ROOT / "tests/model/machine/topologies/guest-2-cores.xml"), "HWLOC_THISSYSTEM": "1"}
# Prints recorded output of a UCX of that version. Options: -v, -c -a, -d, -e and more.
UCX_INFO = """#!/bin/sh
case "$1" in
-v) part=v ;;
-c) part=ca ;;
-d) part=d ;;
-e) part={selections} ;;
esac
cat "{samples}/{version}-$part.txt"
"""
COLLECTIVES_OF_TWO_RANKS = """
#include <mpi.h>
int main(void) {
  int given = 1, got = 0;
  MPI_Request request;
  MPI_Init(NULL, NULL);
  for (int call = 0; call < 100; ++call) MPI_Allreduce(&given, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(&given, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
"""
TWO_RANKS = """
#include <mpi.h>
int main(void) {
  int rank, got = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
"""
PATIENCE_SECONDS = 240

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no mpirun in PATH")
needs_compiler = pytest.mark.skipif(not shutil.which("mpicc"), reason="there is no mpicc in PATH")


def huddle(folder, *words, more=None, status=0):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HUDDLE_", "UCX_"))}
    ran = subprocess.run([HUDDLE, *map(str, words)], cwd=folder, text=True, capture_output=True, check=False,
                         timeout=PATIENCE_SECONDS, env={**environment, **(more or {})})
    assert ran.returncode == status, f"huddle {' '.join(map(str, words))}:\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def report_of(folder, written):
    (folder / "written.json").write_text(written, encoding="utf-8")
    huddle(folder, "report", "written.json")
    return (folder / "written.html").read_text(encoding="utf-8")


def ucx_info(folder, version, selections):
    tool = folder / "ucx_info"
    tool.write_text(UCX_INFO.format(samples=SAMPLES, version=version, selections=selections), encoding="utf-8")
    tool.chmod(0o755)
    return tool


@pytest.mark.parametrize("machine", ["songshan", "xeon-e5620-2s", "amd-epyc-2c-1b1d3050"])
@pytest.mark.parametrize("ranks", [1, 32])
def test_paths_to_report(tmp_path, machine, ranks):
    page = report_of(tmp_path, huddle(tmp_path, "paths", "--machine", machine, "-n", ranks, "--json"))
    assert f"Paths inside a node of {machine}" in page


@pytest.mark.parametrize("version, selections, status", [
    ("1.13", "e-thresholds", 0), ("1.13", "e", 0), ("1.22", "e-card", 1)])
def test_ucx_check_to_report(tmp_path, version, selections, status):
    written = huddle(tmp_path, "ucx", "--ucx-info", ucx_info(tmp_path, version, selections), *MACHINE, "--check",
                     "--dry-run", "--json", more=RECORDED, status=status)
    page = report_of(tmp_path, written)
    assert f"UCX {version} inside a node" in page and "UCX_CMA_BW" in page
    assert ("37 % of each message of at least 256K go through tcp/lo" in page) == (status == 1)


def test_ucx_check_of_a_program_to_report(tmp_path):
    written = huddle(tmp_path, "ucx", "--ucx-info", ucx_info(tmp_path, "1.13", "e-thresholds"), *MACHINE, "--check",
                     "--json", "true", more=RECORDED)
    assert "6 runs of each" in report_of(tmp_path, written)


@needs_mpi
def test_ucx_check_of_collectives_to_report(tmp_path):
    written = huddle(tmp_path, "ucx", "--ucx-info", ucx_info(tmp_path, "1.13", "e-thresholds"), *MACHINE, "--check",
                     "--rank-counts", 2, "--json", more=RECORDED)
    page = report_of(tmp_path, written)
    assert "2 ranks" in page and "alltoall of 4M" in page


def test_watch_to_report(tmp_path):
    written = huddle(tmp_path, "watch", "--replay", ROOT / "examples/changing-pairs.touches", "--machine",
                     "xeon-e5620-2s", "--json")
    assert "changing-pairs.touches" in report_of(tmp_path, written)


@pytest.fixture(scope="module", name="threads")
def profile_of_threads(tmp_path_factory):
    """Returns a folder with both files of a profile of threads."""
    folder = tmp_path_factory.mktemp("threads")
    film = huddle(folder, "profile", "--json", "-o", "threads.json", "sleep", "0.2")
    (folder / "film.json").write_text(film, encoding="utf-8")
    return folder


def test_profile_of_threads_to_report(threads):
    huddle(threads, "report", "film.json")
    assert "sleep" in (threads / "film.html").read_text(encoding="utf-8")


def test_profile_of_threads_to_map(threads):
    ran = subprocess.run([HUDDLE, "map", "threads.json"], cwd=threads, text=True, check=False, capture_output=True)
    assert "1 thread" in ran.stdout + ran.stderr  # printed whether or not there is anything to gain


@pytest.fixture(scope="module", name="bench")
def results_of_bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    huddle(folder, "bench", "--quick", "--ops", "barrier,bcast", "--sizes", "8,64K", "--seconds", 3, "--json",
           "bench.json")
    return folder


@needs_mpi
def test_bench_to_report(bench):
    huddle(bench, "report", "bench.json")
    assert "bcast" in (bench / "bench.html").read_text(encoding="utf-8")


@needs_mpi
def test_bench_to_bench_compare(bench):
    assert "bcast" in huddle(bench, "bench", "compare", "bench.json", "bench.json")


def job_of_two(folder, source):
    """Compiles a program and returns the command that starts it with two ranks."""
    (folder / "program.c").write_text(source, encoding="utf-8")
    subprocess.run(["mpicc", "program.c", "-o", "program"], cwd=folder, check=True)
    version = subprocess.run(["mpirun", "--version"], text=True, capture_output=True, check=True).stdout
    options = ["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version else []
    return ["mpirun", *options, "-n", 2, folder / "program"]


@needs_mpi
@needs_compiler
@pytest.mark.parametrize("off", [[], ["--off"]], ids=["on", "off"])
def test_statistics_of_a_job_to_report(tmp_path, off):
    huddle(tmp_path, "run", *off, "--stats-json", "stats.json", *job_of_two(tmp_path, COLLECTIVES_OF_TWO_RANKS))
    page = report_of(tmp_path, (tmp_path / "stats.json").read_text(encoding="utf-8"))
    assert "Collectives of an MPI job with 2 ranks" in page and "allreduce of 4" in page
    assert "MPI_Iallreduce" in page
    assert ("huddle was off" in page) == bool(off)


@needs_mpi
@needs_compiler
def test_profile_of_ranks_to_map(tmp_path):
    huddle(tmp_path, "profile", "-o", "ranks.json", *job_of_two(tmp_path, TWO_RANKS))
    assert "2 ranks" in huddle(tmp_path, "map", "ranks.json")
