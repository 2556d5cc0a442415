# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""mpi4py's own tests, from the source distribution of the version that bench/peers installs."""
import hashlib
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
# By version, so that a person reviews a new version in bench/peers first.
SHA256 = {"4.1.2": "56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02"}


def version():
    found = re.search(r"\bmpi4py==([\w.]+)", (ROOT / "bench/peers").read_text(encoding="utf-8"))
    if found is None or found[1] not in SHA256:
        raise RuntimeError(f"{__file__}: no checksum of the mpi4py that bench/peers installs")
    return found[1]


def tests(cache):
    """Returns the folder of the tests below `cache`, after downloading them if necessary."""
    name = f"mpi4py-{version()}"
    unpacked = pathlib.Path(cache) / name
    if not unpacked.exists():
        with tempfile.TemporaryDirectory(dir=_made(cache)) as beside:
            archive = _fetched(pathlib.Path(beside), f"{name}.tar.gz")
            with tarfile.open(archive) as packed:
                packed.extractall(beside)  # the checksum was verified
            # Renamed last and atomically, so that an existing folder is complete.
            (pathlib.Path(beside) / name).rename(unpacked)
    return unpacked / "test"


def _made(folder):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    return folder


def _fetched(folder, name):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
               "--disable-pip-version-check", "--dest", folder, f"mpi4py=={version()}"]
    subprocess.run(command, check=True)
    archive = folder / name
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != SHA256[version()]:
        raise RuntimeError(f"{name} has the checksum {digest}, which is not the one that is known")
    return archive
