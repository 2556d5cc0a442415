! SPDX-License-Identifier: BSD-3-Clause
! Copyright the huddle contributors
!
! Tests the collectives from FORTRAN 77, by mpif.h.
      program with_mpif_h
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, root, i, wrong, products
      integer numbers(1000), sums(1000)
      double precision reals(2), least(2)
      character*12 word
      logical mine, all
      integer place(2), lowest(2)
      integer all_of(3, 64), counts(64), places(64), bytes(64)
      integer types(64), out_of(3, 64)
      external multiply
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
      wrong = 0
      do root = 0, ranks - 1
        do i = 1, 1000
          numbers(i) = i + rank
        end do
        call MPI_Allreduce(numbers, sums, 1000, MPI_INTEGER, MPI_SUM,
     &                     MPI_COMM_WORLD, ierr)
        do i = 1, 1000
          if (sums(i) .ne. ranks * i + ranks * (ranks - 1) / 2)
     &      wrong = wrong + 1
        end do
        call MPI_Allreduce(MPI_IN_PLACE, numbers, 1000, MPI_INTEGER,
     &                     MPI_MAX, MPI_COMM_WORLD, ierr)
        if (numbers(1000) .ne. 1000 + ranks - 1) wrong = wrong + 1
        word = '?'
        if (rank .eq. root) word = 'hello, world'
        call MPI_Bcast(word, 12, MPI_CHARACTER, root, MPI_COMM_WORLD,
     &                 ierr)
        if (word .ne. 'hello, world') wrong = wrong + 1
        mine = rank .ne. root
        call MPI_Allreduce(mine, all, 1, MPI_LOGICAL, MPI_LAND,
     &                     MPI_COMM_WORLD, ierr)
        if (all) wrong = wrong + 1
        call MPI_Allreduce(mine, all, 1, MPI_LOGICAL, MPI_LOR,
     &                     MPI_COMM_WORLD, ierr)
        if (all .neqv. (ranks .gt. 1)) wrong = wrong + 1
        reals(1) = rank + 0.5d0
        reals(2) = -rank
        if (rank .eq. root) then
          least = reals
          call MPI_Reduce(MPI_IN_PLACE, least, 2, MPI_DOUBLE_PRECISION,
     &                    MPI_MIN, root, MPI_COMM_WORLD, ierr)
          if (least(1) .ne. 0.5d0 .or. least(2) .ne. 1 - ranks)
     &      wrong = wrong + 1
        else
          call MPI_Reduce(reals, least, 2, MPI_DOUBLE_PRECISION,
     &                    MPI_MIN, root, MPI_COMM_WORLD, ierr)
        end if
        place(1) = abs(rank - root)
        place(2) = rank
        call MPI_Allreduce(place, lowest, 1, MPI_2INTEGER, MPI_MINLOC,
     &                     MPI_COMM_WORLD, ierr)
        if (lowest(1) .ne. 0 .or. lowest(2) .ne. root)
     &    wrong = wrong + 1
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        do i = 1, ranks
          counts(i) = 3
          places(i) = 3 * (ranks - i)
          bytes(i) = 4 * places(i)
          types(i) = MPI_INTEGER
          out_of(1, i) = rank
          out_of(2, i) = i - 1
          out_of(3, i) = root
        end do
        all_of = -1
        all_of(:, rank + 1) = rank
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, all_of, 3,
     &                     MPI_INTEGER, MPI_COMM_WORLD, ierr)
        do i = 1, ranks
          if (all_of(3, i) .ne. i - 1) wrong = wrong + 1
        end do
        call MPI_Allgatherv(out_of, 3, MPI_INTEGER, all_of, counts,
     &                      places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        do i = 1, ranks
          if (all_of(1, i) .ne. ranks - i) wrong = wrong + 1
        end do
        call MPI_Alltoall(out_of, 3, MPI_INTEGER, all_of, 3,
     &                    MPI_INTEGER, MPI_COMM_WORLD, ierr)
        do i = 1, ranks
          if (all_of(1, i) .ne. i - 1 .or. all_of(2, i) .ne. rank)
     &      wrong = wrong + 1
        end do
        call MPI_Alltoallv(out_of, counts, places, MPI_INTEGER, all_of,
     &                     counts, places, MPI_INTEGER,
     &                     MPI_COMM_WORLD, ierr)
        do i = 1, ranks
          if (all_of(1, i) .ne. ranks - i) wrong = wrong + 1
        end do
        all_of = -1
        call MPI_Alltoallw(out_of, counts, bytes, types, all_of, counts,
     &                     bytes, types, MPI_COMM_WORLD, ierr)
        do i = 1, ranks
          if (all_of(1, i) .ne. ranks - i) wrong = wrong + 1
        end do
        all_of = -1
        if (rank .eq. root) then
          all_of(1, rank + 1) = rank
          call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, all_of, 3,
     &                    MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
          do i = 1, ranks
            if (all_of(1, i) .ne. i - 1) wrong = wrong + 1
          end do
          call MPI_Scatter(out_of, 3, MPI_INTEGER, MPI_IN_PLACE, 3,
     &                     MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
        else
          call MPI_Gather(out_of, 3, MPI_INTEGER, all_of, 3,
     &                    MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
          call MPI_Scatter(out_of, 3, MPI_INTEGER, all_of, 3,
     &                     MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
          if (all_of(2, 1) .ne. rank) wrong = wrong + 1
        end if
        call MPI_Gatherv(out_of, 3, MPI_INTEGER, all_of, counts, places,
     &                   MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
        if (rank .eq. root .and. all_of(1, 1) .ne. ranks - 1)
     &    wrong = wrong + 1
        call MPI_Scatterv(out_of, counts, places, MPI_INTEGER, all_of,
     &                    3, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
        if (all_of(2, 1) .ne. ranks - 1 - rank) wrong = wrong + 1
        numbers(1) = rank + 1
        call MPI_Scan(numbers, sums, 1, MPI_INTEGER, MPI_SUM,
     &                MPI_COMM_WORLD, ierr)
        if (sums(1) .ne. (rank + 1) * (rank + 2) / 2) wrong = wrong + 1
        sums(1) = rank + 1
        call MPI_Exscan(MPI_IN_PLACE, sums, 1, MPI_INTEGER, MPI_SUM,
     &                  MPI_COMM_WORLD, ierr)
        if (rank .gt. 0 .and. sums(1) .ne. rank * (rank + 1) / 2)
     &    wrong = wrong + 1
        call MPI_Reduce_scatter(out_of, sums, counts, MPI_INTEGER,
     &                          MPI_SUM, MPI_COMM_WORLD, ierr)
        if (sums(2) .ne. rank * ranks) wrong = wrong + 1
        call MPI_Reduce_scatter_block(out_of, sums, 3, MPI_INTEGER,
     &                                MPI_SUM, MPI_COMM_WORLD, ierr)
        if (sums(2) .ne. rank * ranks) wrong = wrong + 1
      end do
      call MPI_Op_create(multiply, .true., products, ierr)
      numbers(1) = rank + 1
      call MPI_Allreduce(numbers, sums, 1, MPI_INTEGER, products,
     &                   MPI_COMM_WORLD, ierr)
      numbers(1) = 1
      do i = 2, ranks
        numbers(1) = numbers(1) * i
      end do
      if (sums(1) .ne. numbers(1)) wrong = wrong + 1
      call MPI_Op_free(products, ierr)
      call MPI_Finalize(ierr)
      if (wrong .ne. 0) then
        print *, 'NOT AS MPI HAS IT: mpif.h:', wrong, 'are wrong'
        stop 1
      end if
      end

      subroutine multiply(left, right, count, type)
      implicit none
      integer count, type, i
      integer left(count), right(count)
      do i = 1, count
        right(i) = left(i) * right(i)
      end do
      end
