# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Data-parallel training on CPUs: each rank has its own samples, and an allreduce sums the gradients."""
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rng = np.random.default_rng(7)
weights = [rng.standard_normal(shape).astype(np.float32) * 0.05 for shape in ((256, 512), (512, 512), (512, 10))]
own = np.random.default_rng(world.rank)
samples = own.standard_normal((256, 256), dtype=np.float32)
labels = own.standard_normal((256, 10), dtype=np.float32)
for step in range(500):
    activations = [samples]
    for layer in weights[:-1]:
        activations.append(np.maximum(activations[-1] @ layer, 0))
    error = (activations[-1] @ weights[-1] - labels) / len(samples)
    gradients = []
    for layer, seen in zip(reversed(weights), reversed(activations)):
        gradients.append(seen.T @ error)
        error = (error @ layer.T) * (seen > 0)
    for layer, gradient in zip(reversed(weights), gradients):
        world.Allreduce(MPI.IN_PLACE, gradient)
        layer -= 0.1 / world.size * gradient
if world.rank == 0:
    print(f"{float(sum(np.abs(layer).sum() for layer in weights)):.4f}")
