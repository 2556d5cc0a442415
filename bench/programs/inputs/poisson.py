# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Solves Poisson's equation on a cube by conjugate gradients. The only collectives are two dot products per
iteration."""
from petsc4py import PETSc

SIDE = 48

grid = PETSc.DMDA().create([SIDE] * 3, stencil_width=1)
matrix = grid.createMatrix()
row = PETSc.Mat.Stencil()
column = PETSc.Mat.Stencil()
(x0, x1), (y0, y1), (z0, z1) = grid.getRanges()
for z in range(z0, z1):
    for y in range(y0, y1):
        for x in range(x0, x1):
            row.index = (x, y, z)
            matrix.setValueStencil(row, row, 6.0)
            for dx, dy, dz in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)):
                beside = (x + dx, y + dy, z + dz)
                if all(0 <= where < SIDE for where in beside):
                    column.index = beside
                    matrix.setValueStencil(row, column, -1.0)
matrix.assemble()
right, solution = grid.createGlobalVec(), grid.createGlobalVec()
right.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-10)
solver.setFromOptions()  # PETSC_OPTIONS can select another method
for _ in range(35):
    solution.set(0.0)
    solver.solve(right, solution)
PETSc.Sys.Print(f"{solver.getIterationNumber()} iterations, residual {solver.getResidualNorm():.3e}")
