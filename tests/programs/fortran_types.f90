! Datatypes that Fortran frees while their messages are under way, and whose handles are used again.
program fortran_types
  use mpi
  implicit none
  integer, parameter :: rounds = 200, blocks = 20, numbers = 200
  integer :: ierr, rank, i, k, stride, expected, made, last, reused, failures, requests(2)
  integer, asynchronous :: sent(numbers), received(numbers)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  failures = 0
  reused = 0
  last = MPI_DATATYPE_NULL
  do i = 1, rounds
     stride = 2 + mod(i, 5)
     sent = (/ (i * 1000 + k, k = 1, numbers) /)
     received = -1
     call MPI_Type_vector(blocks, 1, stride, MPI_INTEGER, made, ierr)
     call MPI_Type_commit(made, ierr)
     if (made == last) reused = reused + 1
     last = made
     call MPI_Irecv(received, 1, made, rank, 0, MPI_COMM_WORLD, requests(1), ierr)
     call MPI_Isend(sent, 1, made, rank, 0, MPI_COMM_WORLD, requests(2), ierr)
     call MPI_Type_free(made, ierr)
     call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
     do k = 1, numbers
        expected = -1
        if (mod(k - 1, stride) == 0 .and. (k - 1) / stride < blocks) expected = sent(k)
        if (received(k) /= expected) failures = failures + 1
     end do
  end do
  print '(a, i0, a, i0, a, i0)', 'rank ', rank, ' reused ', reused, ' wrong ', failures
  call MPI_Finalize(ierr)
  if (failures > 0) stop 1
end program
