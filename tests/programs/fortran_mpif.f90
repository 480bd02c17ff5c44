! The old binding, mpif.h.
program fortran_mpif
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, ranks, i, failures, request, op, status(MPI_STATUS_SIZE)
  integer :: numbers(3), gathered(64), counts(64), displs(64)
  double precision :: pair(2), best(2), x
  external affine
  failures = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  do i = 1, 5
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  numbers = 0
  if (rank == ranks - 1) numbers = (/ 4, 5, 6 /)
  call MPI_Bcast(numbers, 3, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierr)
  if (any(numbers /= (/ 4, 5, 6 /))) failures = failures + 1
  ! in place: Fortran's MPI_IN_PLACE is another address than C's
  x = rank + 0.5d0
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (x /= ranks * (ranks - 1) / 2 + 0.5d0 * ranks) failures = failures + 1
  else
    call MPI_Reduce(x, x, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  end if
  pair = (/ dble(mod(rank * 5, 7)), dble(rank) /)
  call MPI_Allreduce(pair, best, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
  do i = 0, ranks - 1
    if (mod(i * 5, 7) > best(1)) failures = failures + 1
  end do
  if (mod(int(best(2)) * 5, 7) /= int(best(1))) failures = failures + 1
  do i = 1, ranks
    counts(i) = mod(i, 2) + 1
    displs(i) = 2 * (ranks - i)
  end do
  gathered = -1
  numbers(1) = rank + 100
  numbers(2) = rank + 200
  call MPI_Gatherv(numbers, counts(rank + 1), MPI_INTEGER, gathered, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    do i = 1, ranks
      if (gathered(displs(i) + 1) /= i - 1 + 100) failures = failures + 1
    end do
  end if
  numbers = rank
  call MPI_Iallreduce(MPI_IN_PLACE, numbers, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, status, ierr)
  if (any(numbers /= ranks - 1)) failures = failures + 1
  call MPI_Op_create(affine, .false., op, ierr)
  numbers(1:2) = (/ 2, rank /)
  call MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_2INTEGER, op, MPI_COMM_WORLD, ierr)
  call expect_affine(numbers, ranks, failures)
  call MPI_Op_free(op, ierr)
  call finish(failures, rank)
  call MPI_Finalize(ierr)
  if (failures /= 0) stop 1
contains
  subroutine expect_affine(got, ranks, failures)
    integer, intent(in) :: got(2), ranks
    integer, intent(inout) :: failures
    integer :: a, b, r
    a = 2
    b = ranks - 1
    do r = ranks - 2, 0, -1
      b = mod(2 * b + r, 9973)
      a = mod(2 * a, 9973)
    end do
    if (got(1) /= a .or. got(2) /= b) failures = failures + 1
  end subroutine
  subroutine finish(failures, rank)
    integer, intent(in) :: failures, rank
    if (failures > 0) write (0, *) 'FAIL rank', rank, ':', failures, 'wrong results'
    if (rank == 0) print '(a)', 'FORTRAN DONE'
  end subroutine
end program

! (a, b) stands for x -> a x + b; composition does not commute.
subroutine affine(in, inout, count, datatype)
  implicit none
  integer :: count, datatype, in(2, count), inout(2, count), i
  do i = 1, count
    inout(2, i) = mod(in(1, i) * inout(2, i) + in(2, i), 9973)
    inout(1, i) = mod(in(1, i) * inout(1, i), 9973)
  end do
end subroutine
