! The binding of Fortran 2008, use mpi_f08.
module functions
  use mpi_f08
  use iso_c_binding
  implicit none
contains
  subroutine larger_square(in, inout, count, datatype)
    type(c_ptr), value :: in, inout
    integer :: count, i
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:), y(:)
    call c_f_pointer(in, x, (/ count /))
    call c_f_pointer(inout, y, (/ count /))
    do i = 1, count
      if (x(i)**2 > y(i)**2) y(i) = x(i)
    end do
  end subroutine
end module

program fortran_f08
  use functions
  implicit none
  integer :: rank, ranks, i, failures, value, total
  integer, asynchronous :: numbers(64)
  integer, allocatable :: counts(:), displs(:), all(:)
  double precision :: pair(2), best(2)
  type(MPI_Op) :: op
  type(MPI_Request) :: requests(3)
  type(MPI_Status) :: statuses(3)
  type(MPI_Comm) :: half, copy
  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do i = 1, 5
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  value = merge(99, -1, rank == 0)
  call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  if (value /= 99) failures = failures + 1
  value = rank
  if (rank == ranks - 1) then
    call MPI_Reduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD)
    if (value /= ranks * (ranks - 1) / 2) failures = failures + 1
  else
    call MPI_Reduce(value, total, 1, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD)
  end if
  pair = (/ dble(-rank), dble(rank) /)
  call MPI_Allreduce(pair, best, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD)
  if (best(1) /= 0 .or. best(2) /= 0) failures = failures + 1
  call MPI_Op_create(larger_square, .true., op)
  value = rank - 2
  call MPI_Allreduce(value, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  do i = 0, ranks - 1
    if ((i - 2)**2 > total**2) failures = failures + 1
  end do
  call MPI_Op_free(op)
  allocate (counts(ranks), displs(ranks), all(3 * ranks))
  counts = (/ (mod(i, 3), i = 1, ranks) /)
  displs = (/ (3 * (i - 1), i = 1, ranks) /)
  numbers = rank
  all = -1
  call MPI_Allgatherv(numbers, counts(rank + 1), MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, ranks
    if (any(all(displs(i) + 1:displs(i) + counts(i)) /= i - 1)) failures = failures + 1
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  call MPI_Comm_dup(half, copy)
  numbers(1:3) = 1
  call MPI_Iallreduce(MPI_IN_PLACE, numbers(1), 1, MPI_INTEGER, MPI_SUM, copy, requests(1))
  call MPI_Iallreduce(MPI_IN_PLACE, numbers(2), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2))
  call MPI_Ibarrier(half, requests(3))
  call MPI_Waitall(3, requests, statuses)
  if (numbers(1) /= (ranks + 1 - mod(rank, 2)) / 2 .or. numbers(2) /= ranks) failures = failures + 1
  call MPI_Comm_free(copy)
  call MPI_Comm_free(half)
  if (failures > 0) write (0, *) 'FAIL rank', rank, ':', failures, 'wrong results'
  if (rank == 0) print '(a)', 'FORTRAN DONE'
  call MPI_Finalize()
  if (failures /= 0) stop 1
end program
