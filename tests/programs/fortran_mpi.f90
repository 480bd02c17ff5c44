! The module mpi: kinds of data, MPI_BOTTOM, derived types, alltoallw.
program fortran_mpi
  use mpi
  implicit none
  integer :: ierr, rank, ranks, i, failures, request, row, absolute
  integer :: matrix(4, 64), received(64)
  integer(kind=MPI_ADDRESS_KIND) :: place
  integer, allocatable :: counts(:), places(:), types(:), sent(:), got(:)
  logical :: yes, all_yes
  complex(kind(1d0)) :: z, total
  real :: located(2), least(2)
  integer, volatile, target :: far
  failures = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  yes = rank /= ranks
  call MPI_Allreduce(yes, all_yes, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  if (.not. all_yes) failures = failures + 1
  z = cmplx(rank, 1, kind(1d0))
  call MPI_Allreduce(z, total, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= cmplx(ranks * (ranks - 1) / 2, ranks, kind(1d0))) failures = failures + 1
  located = (/ real(ranks - rank), real(rank) /)
  call MPI_Allreduce(located, least, 1, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, ierr)
  if (least(1) /= 1.0 .or. least(2) /= ranks - 1) failures = failures + 1
  ! a row of a column-major matrix is a type with holes; the others receive it contiguously
  call MPI_Type_vector(8, 1, 4, MPI_INTEGER, row, ierr)
  call MPI_Type_commit(row, ierr)
  matrix = 0
  received = -1
  if (rank == 0) matrix(2, 1:8) = (/ (i * 11, i = 1, 8) /)
  if (rank == 0) then
    call MPI_Bcast(matrix(2, 1), 1, row, 0, MPI_COMM_WORLD, ierr)
  else
    call MPI_Bcast(received, 8, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    if (any(received(1:8) /= (/ (i * 11, i = 1, 8) /))) failures = failures + 1
  end if
  call MPI_Type_free(row, ierr)
  ! an absolute address
  far = 0
  if (rank == 0) far = 4321
  call MPI_Get_address(far, place, ierr)
  call MPI_Type_create_struct(1, (/ 1 /), (/ place /), (/ MPI_INTEGER /), absolute, ierr)
  call MPI_Type_commit(absolute, ierr)
  call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, ierr)
  if (far /= 4321) failures = failures + 1
  call MPI_Type_free(absolute, ierr)
  allocate (counts(ranks), places(ranks), types(ranks), sent(ranks), got(ranks))
  counts = 1
  types = MPI_INTEGER
  places = (/ (4 * (i - 1), i = 1, ranks) /)
  sent = (/ (rank * 100 + i, i = 1, ranks) /)
  got = -1
  call MPI_Alltoallw(sent, counts, places, types, got, counts, places, types, MPI_COMM_WORLD, ierr)
  if (any(got /= (/ ((i - 1) * 100 + rank + 1, i = 1, ranks) /))) failures = failures + 1
  sent = rank
  got = -1
  call MPI_Ireduce(sent, got, ranks, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  if (rank == 0 .and. any(got /= ranks * (ranks - 1) / 2)) failures = failures + 1
  got = (/ (rank, i = 1, ranks) /)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  if (any(got /= (/ (i - 1, i = 1, ranks) /))) failures = failures + 1
  if (failures > 0) write (0, *) 'FAIL rank', rank, ':', failures, 'wrong results'
  if (rank == 0) print '(a)', 'FORTRAN DONE'
  call MPI_Finalize(ierr)
  if (failures /= 0) stop 1
end program
