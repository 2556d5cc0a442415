# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of communicators that real launchers, mpi4py and stores create."""
import os
import shutil
import subprocess
import sys

import pytest
import torch.distributed as dist
from ranks import PROCESSES, run

import huddle
from huddle.rendezvous import place_in, required_place

ADD_UP = """
import array, huddle
{create}
data = array.array("i", [comm.rank + 1])
comm.allreduce(data)
assert (comm.size, data[0]) == (3, 6)
if comm.rank == 0:
    print("right")
"""
FROM_MPI4PY = "from mpi4py import MPI; comm = huddle.Communicator.from_mpi4py(MPI.COMM_WORLD)"


def launched(launcher, create):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    done = subprocess.run([launcher, "-n", "3", sys.executable, "-c", ADD_UP.format(create=create)], text=True,
                          capture_output=True, check=False, env=environment, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mpi4py_communicator_creates_one():
    assert launched("mpirun.openmpi", FROM_MPI4PY) == "right\n"


def test_open_mpi_identifies_the_job():
    assert launched("mpirun.openmpi", "comm = huddle.Communicator.from_environment()") == "right\n"


def test_key_identifies_a_job_of_mpich():
    assert shutil.which("mpiexec.mpich")
    assert launched("mpiexec.mpich", f"comm = huddle.Communicator.from_environment('job {os.getpid()}')") == "right\n"


def test_store_creates_a_communicator(tmp_path):
    def add_up(comm):
        store = dist.FileStore(str(tmp_path / "store"), comm.size)
        ours = huddle.Communicator.from_store(store, comm.rank, comm.size)
        total = bytearray([ours.rank + 1])
        ours.allreduce(total)
        assert total[0] == 3

    run(add_up, 2)


def test_torchrun_variables_are_read():
    place = place_in({"RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"})
    assert (place.rank, place.size, place.local_size, place.by) == (1, 2, 2, "torchrun")
    assert place.key


SRUN = {"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NNODES": "1"}


def test_slurm_identifies_a_job_that_it_starts_with_pmi2():
    for pmi in {}, {"PMI_RANK": "1", "PMI_SIZE": "2", "PMI_JOBID": "7.0"}:
        place = place_in({**SRUN, **pmi})
        assert (place.rank, place.size, place.key, place.by) == (1, 2, "7/0", "Slurm")
    # mpiexec of MPICH, started in a step of Slurm.
    assert place_in({**SRUN, "PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}).by == "MPICH"
    assert place_in({**SRUN, "SLURM_NNODES": "4", "SLURM_STEP_NUM_NODES": "1"}).nodes == 1


@pytest.mark.parametrize("variables, words", [
    ({}, "no launcher"), ({**SRUN, "SLURM_NNODES": "2"}, "ranks are on 2 nodes"),
    ({**SRUN, "SLURM_STEP_NUM_NODES": "3", "PMI_RANK": "1", "PMI_SIZE": "2"}, "ranks are on 3 nodes"),
    ({"PMI_RANK": "0", "PMI_SIZE": "2"}, "pass a key"),
    ({"RANK": "0", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "MASTER_PORT": "1"}, "2 of 4 ranks are on this machine")])
def test_incomplete_environment_raises(monkeypatch, variables, words):
    for name in list(os.environ):
        if name.startswith(("RANK", "WORLD_", "LOCAL_", "MASTER_", "PMI", "OMPI_", "SLURM_", "MPI_")):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(huddle.Error, match=words):
        required_place()


def check_child(comm):
    failed = PROCESSES.SimpleQueue()

    def use():
        try:
            comm.barrier()
        except huddle.Misused as error:
            failed.put(str(error))

    child = PROCESSES.Process(target=use)
    child.start()
    child.join()
    assert "parent of this forked process" in failed.get()
    comm.barrier()


def test_forked_child_cannot_use_the_communicator():
    run(check_child)
