! Clocks and random numbers, in Fortran: each rank prints what it has drawn.
program draws
    use mpi
    implicit none
    integer :: error, rank, date(8)
    integer(8) :: ticks
    real :: number, used
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call random_seed()
    call random_number(number)
    call system_clock(ticks)
    call cpu_time(used)
    call date_and_time(values=date)
    print *, rank, number, ticks, used, date
    call MPI_Finalize(error)
end program
