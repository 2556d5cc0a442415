# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The energy of a hydrogen molecule on a real-space grid that the ranks divide."""
from ase.build import molecule
from gpaw import GPAW

atoms = molecule("H2")
atoms.center(vacuum=3.5)
atoms.calc = GPAW(mode="fd", h=0.15, txt=None)
energy = atoms.get_potential_energy()
if atoms.calc.wfs.world.rank == 0:
    print(f"energy {energy:.3f}")
