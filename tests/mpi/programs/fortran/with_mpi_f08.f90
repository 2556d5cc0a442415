! SPDX-License-Identifier: BSD-3-Clause
! Copyright the huddle contributors
!
! Tests the collectives from Fortran 2008, by the module mpi_f08.
module operators
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  subroutine largest(left, right, count, datatype)
    type(c_ptr), value :: left, right
    integer :: count
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(left, a, [count])
    call c_f_pointer(right, b, [count])
    b = merge(max(a, b), -1, datatype == MPI_INTEGER)
  end subroutine
end module

program with_mpi_f08
  use mpi_f08
  use operators
  implicit none
  integer :: rank, ranks, root, wrong
  type(MPI_Comm) :: halves
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  wrong = 0
  do root = 0, ranks - 1
    call numbers(MPI_COMM_WORLD)
    call text_and_logicals(root)
    call own_operator(root)
    call blocks(root)
    call prefixes()
    call structures(root)
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, halves)
  call numbers(halves)
  call MPI_Comm_free(halves)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
  if (wrong /= 0) then
    print *, 'NOT AS MPI HAS IT: mpi_f08:', wrong, 'are wrong'
    stop 1
  end if
contains
  subroutine expect(holds)
    logical, intent(in) :: holds
    if (.not. holds) wrong = wrong + 1
  end subroutine

  subroutine numbers(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: size, i, mine(500), sums(500)
    call MPI_Comm_size(comm, size)
    do i = 1, 20
      mine = i
      call MPI_Allreduce(mine, sums, 500, MPI_INTEGER, MPI_SUM, comm)
      call expect(all(sums == size * i))
      call MPI_Allreduce(MPI_IN_PLACE, mine, 500, MPI_INTEGER, MPI_PROD, comm)
      call expect(all(mine == i**size))
      call MPI_Barrier(comm)
    end do
  end subroutine

  subroutine text_and_logicals(root)
    integer, intent(in) :: root
    character(len=40) :: text
    logical :: mine(3), every(3)
    text = merge('from the root', '             ', rank == root)
    call MPI_Bcast(text, len(text), MPI_CHARACTER, root, MPI_COMM_WORLD)
    call expect(text == 'from the root')
    mine = [rank == root, .true., .false.]
    call MPI_Allreduce(mine, every, 3, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD)
    call expect(every(1) .and. (every(2) .eqv. mod(ranks, 2) == 1) .and. .not. every(3))
  end subroutine

  subroutine own_operator(root)
    integer, intent(in) :: root
    type(MPI_Op) :: op
    integer :: mine(100), result(100)
    call MPI_Op_create(largest, .false., op)
    mine = rank + 5
    call MPI_Reduce(mine, result, 100, MPI_INTEGER, op, root, MPI_COMM_WORLD)
    if (rank == root) call expect(all(result == ranks + 4))
    call MPI_Op_free(op)
  end subroutine

  subroutine structures(root)
    integer, intent(in) :: root
    type :: particle
      sequence
      integer :: charge
      double precision :: place(3)
    end type
    type(particle) :: particles(50)
    type(MPI_Datatype) :: plain, type
    integer(kind=MPI_ADDRESS_KIND) :: places(3), extent
    integer :: i
    call MPI_Get_address(particles(1)%charge, places(1))
    call MPI_Get_address(particles(1)%place, places(2))
    call MPI_Get_address(particles(2), places(3))
    extent = places(3) - places(1)
    places = places - places(1)
    call MPI_Type_create_struct(2, [1, 3], places(:2), [MPI_INTEGER, MPI_DOUBLE_PRECISION], plain)
    call MPI_Type_create_resized(plain, 0_MPI_ADDRESS_KIND, extent, type)
    call MPI_Type_commit(type)
    do i = 1, 50
      particles(i) = particle(merge(i, 0, rank == root), merge(i, 0, rank == root) * 0.5d0)
    end do
    call MPI_Bcast(particles, 50, type, root, MPI_COMM_WORLD)
    do i = 1, 50
      call expect(particles(i)%charge == i .and. all(particles(i)%place == i * 0.5d0))
    end do
    call MPI_Type_free(type)
    call MPI_Type_free(plain)
  end subroutine

  ! Exchanges, gathers and scatters blocks, also in place.
  subroutine blocks(root)
    integer, intent(in) :: root
    integer :: mine(2, ranks), every(2, ranks), counts(ranks), places(ranks), bytes(ranks), i
    integer(kind=MPI_ADDRESS_KIND) :: place(1)
    integer, volatile :: number
    type(MPI_Datatype) :: there, types(ranks)
    counts = 2
    places = [(2 * (ranks - i), i = 1, ranks)]
    bytes = 4 * places
    types = MPI_INTEGER
    mine(1, :) = rank
    mine(2, :) = [(i - 1, i = 1, ranks)]
    every = -1
    every(:, rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, every, 2, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(every(2, :) == [(i - 1, i = 1, ranks)]))
    call MPI_Allgatherv(mine, 2, MPI_INTEGER, every, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(every(1, :) == [(ranks - i, i = 1, ranks)]))
    call MPI_Alltoall(mine, 2, MPI_INTEGER, every, 2, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(every(1, :) == [(i - 1, i = 1, ranks)]) .and. all(every(2, :) == rank))
    every = mine
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, every, counts, places, MPI_INTEGER, &
                       MPI_COMM_WORLD)
    call expect(all(every(1, :) == [(ranks - i, i = 1, ranks)]))
    every = -1
    call MPI_Alltoallw(mine, counts, bytes, types, every, counts, bytes, types, MPI_COMM_WORLD)
    call expect(all(every(1, :) == [(ranks - i, i = 1, ranks)]))
    number = rank
    call MPI_Get_address(number, place(1))
    call MPI_Type_create_hindexed(1, [1], place, MPI_INTEGER, there)
    call MPI_Type_commit(there)
    call MPI_Gather(MPI_BOTTOM, 1, there, every, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
    if (rank == root) call expect(every(1, 1) == 0 .and. (ranks < 2 .or. every(2, 1) == 1))
    mine(1, 1) = 30 + root
    mine(2, 1) = 31 + root
    call MPI_Scatter(mine, 1, MPI_INTEGER, MPI_BOTTOM, 1, there, root, MPI_COMM_WORLD)
    if (rank < 2) call expect(number == 30 + root + rank)
    call MPI_Type_free(there)
    call MPI_Gatherv(mine, 2, MPI_INTEGER, every, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD)
    if (rank == root) call expect(every(1, ranks) == 30 + root .and. every(2, ranks) == 31 + root)
    mine(2, :) = [(i - 1, i = 1, ranks)]
    call MPI_Scatterv(mine, counts, places, MPI_INTEGER, every, 2, MPI_INTEGER, root, MPI_COMM_WORLD)
    call expect(every(2, 1) == ranks - 1 - rank)
  end subroutine

  subroutine prefixes()
    integer :: mine(ranks), part(1), i
    mine = [(rank + i, i = 1, ranks)]
    part = -1
    call MPI_Scan(mine, part, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call expect(part(1) == rank + 1)
    part = rank + 1
    call MPI_Exscan(MPI_IN_PLACE, part, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank > 0) call expect(part(1) == rank * (rank + 1) / 2)
    call MPI_Reduce_scatter_block(mine, part, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    call expect(part(1) == rank + 1)
    call MPI_Reduce_scatter(MPI_IN_PLACE, mine, [(1, i = 1, ranks)], MPI_INTEGER, MPI_MAX, &
                            MPI_COMM_WORLD)
    call expect(mine(1) == ranks + rank)
  end subroutine
end program
