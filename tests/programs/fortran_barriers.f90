! Barriers and nothing else: the run-time system of Fortran has installed its signal handlers.
program fortran_barriers
  use mpi
  integer :: i, code
  call mpi_init(code)
  do i = 1, 1000
    call mpi_barrier(mpi_comm_world, code)
  end do
  call mpi_finalize(code)
end program
