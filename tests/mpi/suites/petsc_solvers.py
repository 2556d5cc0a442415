# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""One rank of a PETSc program: solves linear systems with many methods and preconditioners, among
them hypre and MUMPS, a nonlinear system, and one in time. Rank 0 prints why each solver stopped
and the norm of its solution, with fewer digits than the tolerance makes reproducible."""
import math
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

SIDE = 40
TOLERANCE = 1e-11
# Includes methods that reduce several values at once or overlap reductions with computation, and
# preconditioners that share data among all ranks, some ranks, or none.
LINEAR = (("cg", "jacobi"), ("cg", "bjacobi"), ("cg", "hypre"), ("cg", "gamg"), ("pipecg", "jacobi"),
          ("gmres", "asm"), ("fgmres", "redundant"), ("bcgs", "bjacobi"), ("ibcgs", "bjacobi"),
          ("minres", "jacobi"), ("preonly", "mumps"))
STEPS = 20


def tell(name, reason, vector):
    """Prints a result. Collective."""
    PETSc.Sys.Print(name, "reason", int(reason), f"norm {vector.norm():.6e}")


def laplacian(grid):
    """Returns the five-point Laplacian of a square."""
    matrix = grid.createMatrix()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (x_from, x_to), (y_from, y_to) = grid.getRanges()
    for x, y in ((x, y) for y in range(y_from, y_to) for x in range(x_from, x_to)):
        row.index = (x, y)
        for index, value in (((x, y), 4.0), ((x - 1, y), -1.0), ((x + 1, y), -1.0), ((x, y - 1), -1.0),
                             ((x, y + 1), -1.0)):
            if all(0 <= along < SIDE for along in index):
                column.index = index
                matrix.setValueStencil(row, column, value)
    matrix.assemble()
    return matrix


def solve_linear(matrix):
    right = matrix.createVecLeft()
    first, last = right.getOwnershipRange()
    right.setArray([math.sin(1.0 + row) for row in range(first, last)])
    for method, preconditioner in LINEAR:
        solver = PETSc.KSP().create()
        solver.setOperators(matrix)
        solver.setType(method)
        if preconditioner == "mumps":
            solver.getPC().setType("lu")
            solver.getPC().setFactorSolverType(preconditioner)
        else:
            solver.getPC().setType(preconditioner)
        solver.setTolerances(rtol=TOLERANCE, max_it=1000)
        solution = right.duplicate()
        solver.solve(right, solution)
        # The convergence test that is met first may depend on rounding.
        tell(f"{method} {preconditioner}", solver.getConvergedReason() > 0, solution)
        solver.destroy()


def solve_nonlinear(matrix):
    """Solves A u + u^3 = 1."""
    def residual(_, u, f):
        matrix.mult(u, f)
        f.setArray(f.getArray() + u.getArray(readonly=True) ** 3 - 1.0)

    def jacobian(_, u, __, derived):
        matrix.copy(derived, structure=PETSc.Mat.Structure.SAME_NONZERO_PATTERN)
        squares = u.duplicate()
        squares.setArray(3.0 * u.getArray(readonly=True) ** 2)
        derived.setDiagonal(derived.getDiagonal() + squares)
        derived.assemble()

    solver = PETSc.SNES().create()
    solver.setFunction(residual, matrix.createVecLeft())
    solver.setJacobian(jacobian, matrix.duplicate(copy=True))
    solver.setTolerances(rtol=TOLERANCE)
    solver.getKSP().setTolerances(rtol=TOLERANCE)
    solution = matrix.createVecRight()
    solution.set(0.0)
    solver.solve(None, solution)
    tell("newton", solver.getConvergedReason() > 0, solution)


def solve_in_time(matrix):
    """Solves du/dt = -A u with steps of equal length."""
    def slope(_, __, u, result):
        matrix.mult(u, result)
        result.scale(-1.0)

    def derivative(_, __, ___, ____, derived):
        matrix.copy(derived)
        derived.scale(-1.0)
        return True

    solver = PETSc.TS().create()
    solver.setType("cn")
    solver.setProblemType(PETSc.TS.ProblemType.LINEAR)
    solver.setRHSFunction(slope, matrix.createVecLeft())
    solver.setRHSJacobian(derivative, matrix.duplicate(copy=True))
    solver.setTimeStep(0.1)
    solver.setMaxSteps(STEPS)
    solver.setExactFinalTime(PETSc.TS.ExactFinalTime.STEPOVER)
    solver.getSNES().getKSP().setTolerances(rtol=TOLERANCE)
    solution = matrix.createVecRight()
    solution.set(1.0)
    solver.solve(solution)
    tell("in time", solver.getConvergedReason() > 0, solution)


def main():
    grid = PETSc.DMDA().create([SIDE, SIDE], stencil_width=1)
    matrix = laplacian(grid)
    solve_linear(matrix)
    solve_nonlinear(matrix)
    solve_in_time(matrix)
    twice = matrix.matMult(matrix)
    PETSc.Sys.Print(f"product norm {twice.norm():.6e}")
    PETSc.Sys.Print("end")


if __name__ == "__main__":
    main()
