! SPDX-License-Identifier: BSD-3-Clause
! Copyright the huddle contributors
!
! What a code of plane waves does: allocatable arrays of many sizes, made and freed at each step,
! transforms by FFTW whose transposes are all-to-alls, linear algebra by LAPACK, and sums over all
! ranks. It looks after its results. transforms SEED
program transforms
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0), estimate = 64
  integer :: ierr, rank, ranks, step, n, seed_value
  integer, allocatable :: seed(:)
  character(len=32) :: word
  real(dp) :: share

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, word)
  read (word, *) seed_value
  call random_seed(size=n)
  allocate (seed(n))
  seed = seed_value
  call random_seed(put=seed)
  do step = 1, 12
    call random_number(share)
    call transform_and_back(8 + 2 * int(12 * share))
    call random_number(share)
    call solve(40 + int(120 * share))
    call keep_many(20 + int(20 * share))
  end do
  call MPI_Finalize(ierr)

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    write (0, *) 'transforms: rank', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  end subroutine

  ! Each rank has m planes for each of the others.
  subroutine transform_and_back(m)
    integer, intent(in) :: m
    complex(dp), allocatable :: field(:, :, :), there(:, :, :), before(:, :, :)
    integer(8) :: forward, backward
    integer :: n, block_count
    n = m * ranks
    block_count = n * n * m / ranks
    allocate (field(n, n, m), there(n, n, m))
    call fill(field)
    before = field
    call dfftw_plan_many_dft(forward, 2, (/n, n/), m, field, (/n, n/), 1, n * n, field, (/n, n/), 1, &
                             n * n, -1, estimate)
    call dfftw_plan_many_dft(backward, 2, (/n, n/), m, field, (/n, n/), 1, n * n, field, (/n, n/), 1, &
                             n * n, 1, estimate)
    call dfftw_execute_dft(forward, field, field)
    call MPI_Alltoall(field, block_count, MPI_DOUBLE_COMPLEX, there, block_count, MPI_DOUBLE_COMPLEX, &
                      MPI_COMM_WORLD, ierr)
    field = 0
    call MPI_Alltoall(there, block_count, MPI_DOUBLE_COMPLEX, field, block_count, MPI_DOUBLE_COMPLEX, &
                      MPI_COMM_WORLD, ierr)
    call dfftw_execute_dft(backward, field, field)
    call dfftw_destroy_plan(forward)
    call dfftw_destroy_plan(backward)
    call expect(maxval(abs(field / (n * n) - before)) < 1d-10, 'a field is not what it was')
  end subroutine

  subroutine fill(field)
    complex(dp), intent(out) :: field(:, :, :)
    real(dp), allocatable :: parts(:, :, :, :)
    allocate (parts(2, size(field, 1), size(field, 2), size(field, 3)))
    call random_number(parts)
    field = cmplx(parts(1, :, :, :), parts(2, :, :, :), dp)
  end subroutine

  subroutine solve(n)
    integer, intent(in) :: n
    real(dp), allocatable :: matrix(:, :), factors(:, :), right(:), found(:), sums(:)
    integer, allocatable :: pivots(:)
    integer :: i, info
    allocate (matrix(n, n), right(n), pivots(n))
    call random_number(matrix)
    do i = 1, n
      matrix(i, i) = matrix(i, i) + n
    end do
    right = 1
    factors = matrix
    found = right
    call dgesv(n, 1, factors, n, pivots, found, n, info)
    call expect(info == 0 .and. maxval(abs(matmul(matrix, found) - right)) < 1d-9, 'no solution')
    allocate (sums(n * n))
    call MPI_Allreduce(reshape(matrix, (/n * n/)), sums, n * n, MPI_DOUBLE_PRECISION, MPI_SUM, &
                       MPI_COMM_WORLD, ierr)
    ! All ranks have the same seed.
    call expect(maxval(abs(sums - ranks * reshape(matrix, (/n * n/)))) < 1d-9 * n, 'a wrong sum')
  end subroutine

  subroutine keep_many(many)
    integer, intent(in) :: many
    type :: row
      real(dp), allocatable :: values(:)
    end type
    type(row), allocatable :: rows(:)
    real(dp) :: share
    integer :: i
    allocate (rows(many))
    do i = 1, many
      call random_number(share)
      allocate (rows(i)%values(1000 + int(60000 * share)), source=real(i, dp))
      if (mod(i, 3) == 0) rows(i / 2 + 1)%values = [rows(i / 2 + 1)%values, rows(i)%values]
      call MPI_Bcast(rows(i)%values, size(rows(i)%values), MPI_DOUBLE_PRECISION, mod(i, ranks), &
                     MPI_COMM_WORLD, ierr)
    end do
    do i = many / 2 + 2, many
      call expect(all(rows(i)%values == i), 'a row is not what it was')
    end do
  end subroutine
end program
