! SPDX-License-Identifier: BSD-3-Clause
! Copyright the huddle contributors
!
! Tests the collectives from Fortran 90, by the module mpi: datatypes, addresses, operators.
program with_use_mpi
  use mpi
  implicit none
  integer, parameter :: most = 20000
  integer :: ierr, rank, ranks, root, wrong
  external :: first_of_two
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  wrong = 0
  do root = 0, ranks - 1
    call complex_numbers(root)
    call columns(root)
    call absolute(root)
    call chosen_kinds()
    call own_operator(root)
    call blocks(root)
    call prefixes()
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
  if (wrong /= 0) then
    print *, 'NOT AS MPI HAS IT: use mpi:', wrong, 'are wrong'
    stop 1
  end if
contains
  subroutine expect(holds)
    logical, intent(in) :: holds
    if (.not. holds) wrong = wrong + 1
  end subroutine

  subroutine complex_numbers(root)
    integer, intent(in) :: root
    complex(kind(1d0)) :: mine(most), sums(most)
    mine = cmplx(rank, 2 * rank, kind(1d0))
    sums = 0
    call MPI_Reduce(mine, sums, most, MPI_DOUBLE_COMPLEX, MPI_SUM, root, MPI_COMM_WORLD, ierr)
    if (rank == root) then
      call expect(all(sums == cmplx(ranks * (ranks - 1) / 2, ranks * (ranks - 1), kind(1d0))))
    end if
  end subroutine

  ! Broadcasts a row of a matrix, which is not contiguous in memory.
  subroutine columns(root)
    integer, intent(in) :: root
    integer :: matrix(10, 20), row
    matrix = -1
    if (rank == root) matrix(3, :) = 7 + root
    call MPI_Type_vector(20, 1, 10, MPI_INTEGER, row, ierr)
    call MPI_Type_commit(row, ierr)
    call MPI_Bcast(matrix(3, 1), 1, row, root, MPI_COMM_WORLD, ierr)
    call MPI_Type_free(row, ierr)
    call expect(all(matrix(3, :) == 7 + root) .and. all(matrix(1:2, :) == -1) .and. &
                all(matrix(4:, :) == -1))
  end subroutine

  subroutine absolute(root)
    integer, intent(in) :: root
    integer :: type
    integer, volatile :: number
    double precision, volatile :: real
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    number = merge(11, 0, rank == root)
    real = merge(2.5d0, 0d0, rank == root)
    call MPI_Get_address(number, places(1), ierr)
    call MPI_Get_address(real, places(2), ierr)
    call MPI_Type_create_struct(2, [1, 1], places, [MPI_INTEGER, MPI_DOUBLE_PRECISION], type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD, ierr)
    call MPI_Type_free(type, ierr)
    call expect(number == 11 .and. real == 2.5d0)
  end subroutine

  ! Uses datatypes that are selected by range and precision.
  subroutine chosen_kinds()
    integer, parameter :: long = selected_int_kind(15), precise = selected_real_kind(12)
    integer :: integers, reals
    integer(long) :: mine, largest
    real(precise) :: number, total
    call MPI_Type_create_f90_integer(15, integers, ierr)
    call MPI_Type_create_f90_real(12, MPI_UNDEFINED, reals, ierr)
    mine = 10_long**12 + rank
    call MPI_Allreduce(mine, largest, 1, integers, MPI_MAX, MPI_COMM_WORLD, ierr)
    call expect(largest == 10_long**12 + ranks - 1)
    number = rank
    call MPI_Allreduce(number, total, 1, reals, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(total == ranks * (ranks - 1) / 2)
  end subroutine

  subroutine own_operator(root)
    integer, intent(in) :: root
    integer :: op, mine(most), result(most), i
    call MPI_Op_create(first_of_two, .false., op, ierr)
    mine = [(i + 1000 * rank, i = 1, most)]
    result = -1
    call MPI_Reduce(mine, result, most, MPI_INTEGER, op, root, MPI_COMM_WORLD, ierr)
    if (rank == root) call expect(all(result == [(i, i = 1, most)]))
    result = mine
    call MPI_Allreduce(MPI_IN_PLACE, result, most, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
    call expect(all(result == [(i, i = 1, most)]))
    call MPI_Op_free(op, ierr)
  end subroutine

  ! Exchanges, gathers and scatters blocks; also by absolute addresses, and in place.
  subroutine blocks(root)
    integer, intent(in) :: root
    integer :: mine(2, ranks), every(2, ranks), counts(ranks), places(ranks), bytes(ranks), i
    integer(kind=MPI_ADDRESS_KIND) :: place(1)
    integer, volatile :: number
    integer :: there, types(ranks)
    counts = 2
    places = [(2 * (ranks - i), i = 1, ranks)]
    bytes = 4 * places
    types = MPI_INTEGER
    mine(1, :) = rank
    mine(2, :) = [(i - 1, i = 1, ranks)]
    every = -1
    every(:, rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, every, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(every(2, :) == [(i - 1, i = 1, ranks)]))
    call MPI_Allgatherv(mine, 2, MPI_INTEGER, every, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(every(1, :) == [(ranks - i, i = 1, ranks)]))
    call MPI_Alltoall(mine, 2, MPI_INTEGER, every, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(every(1, :) == [(i - 1, i = 1, ranks)]) .and. all(every(2, :) == rank))
    every = mine
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, every, counts, places, MPI_INTEGER, &
                       MPI_COMM_WORLD, ierr)
    call expect(all(every(1, :) == [(ranks - i, i = 1, ranks)]))
    every = -1
    call MPI_Alltoallw(mine, counts, bytes, types, every, counts, bytes, types, MPI_COMM_WORLD, ierr)
    call expect(all(every(1, :) == [(ranks - i, i = 1, ranks)]))
    number = rank
    call MPI_Get_address(number, place(1), ierr)
    call MPI_Type_create_hindexed(1, [1], place, MPI_INTEGER, there, ierr)
    call MPI_Type_commit(there, ierr)
    call MPI_Gather(MPI_BOTTOM, 1, there, every, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    if (rank == root) call expect(every(1, 1) == 0 .and. (ranks < 2 .or. every(2, 1) == 1))
    mine(1, 1) = 30 + root
    mine(2, 1) = 31 + root
    call MPI_Scatter(mine, 1, MPI_INTEGER, MPI_BOTTOM, 1, there, root, MPI_COMM_WORLD, ierr)
    if (rank < 2) call expect(number == 30 + root + rank)
    call MPI_Type_free(there, ierr)
    call MPI_Gatherv(mine, 2, MPI_INTEGER, every, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    if (rank == root) call expect(every(1, ranks) == 30 + root .and. every(2, ranks) == 31 + root)
    mine(2, :) = [(i - 1, i = 1, ranks)]
    call MPI_Scatterv(mine, counts, places, MPI_INTEGER, every, 2, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    call expect(every(2, 1) == ranks - 1 - rank)
  end subroutine

  subroutine prefixes()
    integer :: mine(ranks), part(1), i
    mine = [(rank + i, i = 1, ranks)]
    part = -1
    call MPI_Scan(mine, part, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    call expect(part(1) == rank + 1)
    part = rank + 1
    call MPI_Exscan(MPI_IN_PLACE, part, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank > 0) call expect(part(1) == rank * (rank + 1) / 2)
    call MPI_Reduce_scatter_block(mine, part, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierr)
    call expect(part(1) == rank + 1)
    call MPI_Reduce_scatter(MPI_IN_PLACE, mine, [(1, i = 1, ranks)], MPI_INTEGER, MPI_MAX, &
                            MPI_COMM_WORLD, ierr)
    call expect(mine(1) == ranks + rank)
  end subroutine
end program

! A noncommutative operator: the result is the number of the lowest rank.
subroutine first_of_two(left, right, count, type)
  use mpi
  implicit none
  integer, intent(in) :: count, type
  integer, intent(in) :: left(count)
  integer, intent(inout) :: right(count)
  right = left
  if (type /= MPI_INTEGER) right = -2
end subroutine
