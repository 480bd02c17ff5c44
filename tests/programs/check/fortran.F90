! Fortran programs that break a rule of MPI, each beside a twin that keeps it: `fortran CASE...`. A line with a
! comment `finding: RULE` is where the finding must be. Cases of the rule `race` have three ranks, others two.
! Compiled with -DMPIF (mpif.h), -DF08 (use mpi_f08), or neither (use mpi).
#ifdef F08
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define GROUP type(MPI_Group)
#define OPERATOR type(MPI_Op)
#define REQUEST type(MPI_Request)
#else
#define COMM integer
#define DATATYPE integer
#define GROUP integer
#define OPERATOR integer
#define REQUEST integer
#endif
#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

#ifdef MPIF
module binding
  include 'mpif.h'
end module
#endif

module common
#if defined(MPIF)
  use binding
#elif defined(F08)
  use mpi_f08
#else
  use mpi
#endif
  use iso_c_binding, only: c_int
  implicit none
  integer, parameter :: many = 1048576 ! no library is done with so many before they are received
  integer :: rank, ranks, peer, e, few = 64
  integer, asynchronous :: a(4096) = 0, b(4096) = 0, large(many) = 0, other(many) = 0, matrix(64, 64) = 0
  integer(8), asynchronous :: long(64) = 0
  double precision, asynchronous :: d(64) = 0

  interface
    integer(c_int) function end_after(seconds) bind(C, name='alarm')
      import c_int
      integer(c_int), value :: seconds
    end function
    subroutine end_now(code) bind(C, name='_exit')
      import c_int
      integer(c_int), value :: code
    end subroutine
  end interface
contains
  ! The library returns what it finds.
  subroutine tolerate()
    call MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN, e)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
  end subroutine

  ! Some cases hang.
  subroutine end_soon()
    integer(c_int) :: before
    before = end_after(1_c_int)
  end subroutine
end module

module cases
  use common
  implicit none
contains
  subroutine message_truncated()
    call tolerate()
    if (rank == 0) call MPI_Send(a, 20, MPI_INTEGER, 1, 0, W, e)
    if (rank == 1) call MPI_Recv(b, 10, MPI_INTEGER, 0, 0, W, IGNORE, e) ! finding: message
  end subroutine

  subroutine message_truncated_clean()
    if (rank == 0) call MPI_Send(a, 20, MPI_INTEGER, 1, 0, W, e)
    if (rank == 1) call MPI_Recv(b, 20, MPI_INTEGER, 0, 0, W, IGNORE, e)
  end subroutine

  subroutine message_kind()
    if (rank == 0) call MPI_Send(a, 4, MPI_INTEGER, 1, 0, W, e)
    if (rank == 1) call MPI_Recv(long, 4, MPI_INTEGER8, 0, 0, W, IGNORE, e) ! finding: message
  end subroutine

  subroutine message_kind_clean()
    DATATYPE :: by_digits
    call MPI_Type_create_f90_real(15, 300, by_digits, e) ! MPI's own: it is not freed
    if (rank == 0) call MPI_Send(long, 4, MPI_INTEGER8, 1, 0, W, e)
    if (rank == 1) call MPI_Recv(long, 4, MPI_INTEGER8, 0, 0, W, IGNORE, e)
    if (rank == 0) call MPI_Send(d, 4, by_digits, 1, 0, W, e)
    if (rank == 1) call MPI_Recv(d, 8, by_digits, 0, 0, W, IGNORE, e)
  end subroutine

  ! A row and a column have as many elements, but a row of a matrix is not contiguous.
  subroutine message_row()
    DATATYPE :: pair
    call tolerate()
    call MPI_Type_vector(64, 1, 64, MPI_INTEGER, pair, e)
    call MPI_Type_commit(pair, e)
    if (rank == 0) call MPI_Send(matrix(3, 1), 1, pair, 1, 0, W, e)
    if (rank == 1) call MPI_Recv(matrix(1, 3), 32, MPI_INTEGER, 0, 0, W, IGNORE, e) ! finding: message
    call MPI_Type_free(pair, e)
  end subroutine

  subroutine message_row_clean()
    DATATYPE :: row
    call MPI_Type_vector(64, 1, 64, MPI_INTEGER, row, e)
    call MPI_Type_commit(row, e)
    if (rank == 0) call MPI_Send(matrix(3, 1), 1, row, 1, 0, W, e)
    if (rank == 1) call MPI_Recv(matrix(1, 3), 64, MPI_INTEGER, 0, 0, W, IGNORE, e)
    if (rank == 0) call MPI_Send(matrix(3, :), 64, MPI_INTEGER, 1, 0, W, e) ! the compiler may copy
    if (rank == 1) call MPI_Recv(matrix(4, :), 64, MPI_INTEGER, 0, 0, W, IGNORE, e)
    call MPI_Type_free(row, e)
  end subroutine

  subroutine unmatched_send()
    call MPI_Sendrecv(a, 1, MPI_INTEGER, peer, 0, b, 1, MPI_INTEGER, peer, 0, W, IGNORE, e)
    if (rank == 0) call MPI_Send(a, 1, MPI_INTEGER, 1, 5, W, e) ! finding: unmatched
  end subroutine

  subroutine unmatched_send_clean()
    call MPI_Sendrecv(a, 1, MPI_INTEGER, peer, 0, b, 1, MPI_INTEGER, peer, 0, W, IGNORE, e)
    if (rank == 0) call MPI_Send(a, 1, MPI_INTEGER, 1, 5, W, e)
    if (rank == 0) call MPI_Send(a, 1, MPI_INTEGER, MPI_PROC_NULL, 5, W, e)
    if (rank == 1) call MPI_Recv(b, 1, MPI_INTEGER, 0, MPI_ANY_TAG, W, IGNORE, e)
  end subroutine

  subroutine unmatched_receive()
    REQUEST :: r
    if (rank == 0) call MPI_Irecv(b, 1, MPI_INTEGER, 1, 5, W, r, e) ! finding: unmatched
    call MPI_Barrier(W, e)
  end subroutine

  subroutine unmatched_receive_clean()
    REQUEST :: r
    if (rank == 0) then
      call MPI_Irecv(b, 1, MPI_INTEGER, 1, 5, W, r, e)
      call MPI_Cancel(r, e)
      call MPI_Wait(r, IGNORE, e)
    end if
    call MPI_Barrier(W, e)
  end subroutine

  ! The library takes each root's own buffer.
  subroutine collective_root()
    REQUEST :: r
    if (rank == 0) call MPI_Ibcast(a, 1, MPI_INTEGER, 0, W, r, e)
    if (rank == 1) call MPI_Ibcast(a, 1, MPI_INTEGER, 1, W, r, e) ! finding: collective
    call MPI_Wait(r, IGNORE, e)
  end subroutine

  subroutine collective_root_clean()
    REQUEST :: r
    call MPI_Ibcast(a, 1, MPI_INTEGER, 1, W, r, e)
    call MPI_Wait(r, IGNORE, e)
  end subroutine

  subroutine collective_operator()
    if (rank == 0) call MPI_Allreduce(d, d(9), 4, MPI_DOUBLE_PRECISION, MPI_SUM, W, e)
    if (rank == 1) call MPI_Allreduce(d, d(9), 4, MPI_DOUBLE_PRECISION, MPI_MAX, W, e) ! finding: collective
  end subroutine

  subroutine collective_operator_clean()
    call MPI_Allreduce(d, d(9), 4, MPI_DOUBLE_PRECISION, MPI_MAX, W, e)
    call MPI_Allreduce(a, b, 1, MPI_2INTEGER, MPI_MAXLOC, W, e)
  end subroutine

  subroutine collective_type()
    if (rank == 0) call MPI_Bcast(d, 2, MPI_DOUBLE_PRECISION, 0, W, e)
    if (rank == 1) call MPI_Bcast(d, 2, MPI_COMPLEX, 0, W, e) ! finding: collective
  end subroutine

  subroutine collective_type_clean()
    DATATYPE :: two
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, two, e)
    call MPI_Type_commit(two, e)
    if (rank == 0) call MPI_Bcast(d, 4, MPI_DOUBLE_PRECISION, 0, W, e)
    if (rank == 1) call MPI_Bcast(d, 2, two, 0, W, e)
    call MPI_Type_free(two, e)
  end subroutine

  ! Fortran passes an array's beginning: from b(4) on is one element too early.
  subroutine overlap_receives()
    REQUEST :: r(2)
    if (rank == 0) then
      call MPI_Send(a, 4, MPI_INTEGER, 1, 1, W, e)
      call MPI_Send(a, 4, MPI_INTEGER, 1, 2, W, e)
    else
      call MPI_Irecv(b(1), 4, MPI_INTEGER, 0, 1, W, r(1), e)
      call MPI_Irecv(b(4), 4, MPI_INTEGER, 0, 2, W, r(2), e) ! finding: overlap
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
    end if
  end subroutine

  subroutine overlap_receives_clean()
    REQUEST :: r(2)
    if (rank == 0) then
      call MPI_Send(a, 4, MPI_INTEGER, 1, 1, W, e)
      call MPI_Send(a, 4, MPI_INTEGER, 1, 2, W, e)
    else
      call MPI_Irecv(b(1), 4, MPI_INTEGER, 0, 1, W, r(1), e)
      call MPI_Irecv(b(5), 4, MPI_INTEGER, 0, 2, W, r(2), e)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
    end if
  end subroutine

  subroutine overlap_aliased()
    call tolerate()
    call MPI_Allreduce(a, a(2), 4, MPI_INTEGER, MPI_SUM, W, e) ! finding: overlap
  end subroutine

  subroutine overlap_aliased_clean()
    call MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_INTEGER, MPI_SUM, W, e)
    call MPI_Allreduce(a, a(5), 4, MPI_INTEGER, MPI_SUM, W, e)
  end subroutine

  subroutine receive_large(r)
    REQUEST :: r
    call MPI_Barrier(W, e)
    if (rank == 1) call MPI_Recv(other, many, MPI_INTEGER, 0, 0, W, IGNORE, e)
    if (rank == 0) call MPI_Wait(r, IGNORE, e)
  end subroutine

  subroutine modified_large()
    REQUEST :: r
    if (rank == 0) then
      call MPI_Isend(large, many, MPI_INTEGER, 1, 0, W, r, e) ! finding: modified
      large(many) = 7
    end if
    call receive_large(r)
  end subroutine

  subroutine modified_large_clean()
    REQUEST :: r
    if (rank == 0) call MPI_Isend(large, many, MPI_INTEGER, 1, 0, W, r, e)
    call receive_large(r)
    large(many) = 8
  end subroutine

  ! The compiler sends a copy of the expression, and frees it when MPI_Issend returns.
  subroutine modified_copy()
    REQUEST :: r
    if (rank == 0) call MPI_Issend(a(1:few) + 1, few, MPI_INTEGER, 1, 0, W, r, e) ! finding: modified
    call MPI_Barrier(W, e)
    if (rank == 1) call MPI_Recv(b, 64, MPI_INTEGER, 0, 0, W, IGNORE, e)
    if (rank == 0) call MPI_Wait(r, IGNORE, e)
  end subroutine

  subroutine modified_copy_clean()
    REQUEST :: r
    a(1:few) = a(1:few) + 1
    if (rank == 0) call MPI_Issend(a(1:few), few, MPI_INTEGER, 1, 0, W, r, e)
    call MPI_Barrier(W, e)
    if (rank == 1) call MPI_Recv(b, 64, MPI_INTEGER, 0, 0, W, IGNORE, e)
    if (rank == 0) call MPI_Wait(r, IGNORE, e)
  end subroutine

  subroutine leak_request()
    REQUEST :: r
    if (rank == 0) call MPI_Isend(a, 1, MPI_INTEGER, 1, 0, W, r, e) ! finding: leak
    if (rank == 1) call MPI_Recv(b, 1, MPI_INTEGER, 0, 0, W, IGNORE, e)
  end subroutine

  subroutine leak_request_clean()
    REQUEST :: r
    if (rank == 0) call MPI_Isend(a, 1, MPI_INTEGER, 1, 0, W, r, e)
    if (rank == 0) call MPI_Request_free(r, e)
    if (rank == 1) call MPI_Recv(b, 1, MPI_INTEGER, 0, 0, W, IGNORE, e)
  end subroutine

  subroutine leak_objects()
    COMM :: copy
    DATATYPE :: pair
    GROUP :: all
    call MPI_Comm_dup(W, copy, e) ! finding: leak
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, e) ! finding: leak
    call MPI_Comm_group(W, all, e) ! finding: leak
  end subroutine

  subroutine leak_objects_clean()
    COMM :: copy
    DATATYPE :: pair
    GROUP :: all
    call MPI_Comm_dup(W, copy, e)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, e)
    call MPI_Comm_group(W, all, e)
    call MPI_Comm_free(copy, e)
    call MPI_Type_free(pair, e)
    call MPI_Group_free(all, e)
  end subroutine

  subroutine handle_uncommitted()
    DATATYPE :: pair
    call tolerate()
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, e)
    call MPI_Bcast(a, 1, pair, 0, MPI_COMM_SELF, e) ! finding: handle
    call MPI_Type_free(pair, e)
  end subroutine

  subroutine handle_uncommitted_clean()
    DATATYPE :: pair
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, e)
    call MPI_Type_commit(pair, e)
    call MPI_Bcast(a, 1, pair, 0, MPI_COMM_SELF, e)
    call MPI_Type_free(pair, e)
  end subroutine

  subroutine handle_old_request()
    REQUEST :: r, copy
    call tolerate()
    call MPI_Irecv(b, 1, MPI_INTEGER, peer, 0, W, r, e)
    copy = r
    call MPI_Send(a, 1, MPI_INTEGER, peer, 0, W, e)
    call MPI_Wait(r, IGNORE, e)
    if (rank == 0) then
      call end_soon()
      call MPI_Wait(copy, IGNORE, e) ! finding: handle
      call end_now(1)
    end if
  end subroutine

  subroutine handle_old_request_clean()
    REQUEST :: r
    call MPI_Irecv(b, 1, MPI_INTEGER, peer, 0, W, r, e)
    call MPI_Send(a, 1, MPI_INTEGER, peer, 0, W, e)
    call MPI_Wait(r, IGNORE, e)
    call MPI_Wait(r, IGNORE, e) ! it is MPI_REQUEST_NULL now
  end subroutine

  subroutine deadlock_receives()
    call end_soon()
    call MPI_Recv(b, 1, MPI_INTEGER, peer, 0, W, IGNORE, e) ! finding: deadlock
    call MPI_Send(a, 1, MPI_INTEGER, peer, 0, W, e)
  end subroutine

  subroutine deadlock_receives_clean()
    if (rank == 0) call MPI_Send(a, 1, MPI_INTEGER, peer, 0, W, e)
    call MPI_Recv(b, 1, MPI_INTEGER, peer, 0, W, IGNORE, e)
    if (rank == 1) call MPI_Send(a, 1, MPI_INTEGER, peer, 0, W, e)
  end subroutine

  subroutine deadlock_collective()
    call end_soon()
    if (rank == 0) call MPI_Barrier(W, e) ! finding: deadlock
    if (rank == 1) call MPI_Recv(b, 1, MPI_INTEGER, 0, 0, W, IGNORE, e)
    if (rank == 0) call MPI_Send(a, 1, MPI_INTEGER, 1, 0, W, e)
    if (rank == 1) call MPI_Barrier(W, e)
  end subroutine

  subroutine deadlock_collective_clean()
    if (rank == 0) call MPI_Send(a, 1, MPI_INTEGER, 1, 0, W, e)
    if (rank == 1) call MPI_Recv(b, 1, MPI_INTEGER, 0, 0, W, IGNORE, e)
    call MPI_Barrier(W, e)
  end subroutine

  subroutine buffering_sends()
    call MPI_Send(a, 1, MPI_INTEGER, peer, 0, W, e) ! finding: buffering
    call MPI_Recv(b, 1, MPI_INTEGER, peer, 0, W, IGNORE, e)
  end subroutine

  subroutine buffering_sends_clean()
    call MPI_Sendrecv(a, 1, MPI_INTEGER, peer, 0, b, 1, MPI_INTEGER, peer, 0, W, IGNORE, e)
  end subroutine

  subroutine buffering_collective()
    if (rank == 0) call MPI_Send(a, 1, MPI_INTEGER, 1, 1, W, e) ! finding: buffering
    call MPI_Allreduce(d, d(9), 1, MPI_DOUBLE_PRECISION, MPI_SUM, W, e)
    if (rank == 1) call MPI_Recv(b, 1, MPI_INTEGER, 0, 1, W, IGNORE, e)
  end subroutine

  subroutine buffering_collective_clean()
    REQUEST :: r
    if (rank == 1) call MPI_Irecv(b, 1, MPI_INTEGER, 0, 1, W, r, e)
    if (rank == 0) call MPI_Send(a, 1, MPI_INTEGER, 1, 1, W, e)
    call MPI_Allreduce(d, d(9), 1, MPI_DOUBLE_PRECISION, MPI_SUM, W, e)
    if (rank == 1) call MPI_Wait(r, IGNORE, e)
  end subroutine

  ! Three ranks.
  subroutine race_receives()
    integer :: i
    if (rank /= 0) call MPI_Send(a, 1, MPI_INTEGER, 0, 0, W, e)
    if (rank /= 0) return
    do i = 2, ranks
      call MPI_Recv(b, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, W, IGNORE, e) ! finding: race
    end do
  end subroutine

  subroutine race_receives_clean()
    integer :: i
    if (rank /= 0) call MPI_Send(a, 1, MPI_INTEGER, 0, 0, W, e)
    if (rank /= 0) return
    do i = 2, ranks
      call MPI_Recv(b, 1, MPI_INTEGER, i - 1, 0, W, IGNORE, e)
    end do
  end subroutine

  subroutine race_posted()
    REQUEST :: r(2)
    if (rank /= 0) call MPI_Send(a, 1, MPI_INTEGER, 0, rank, W, e)
    if (rank /= 0) return
    call MPI_Irecv(b, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, W, r(1), e) ! finding: race
    call MPI_Irecv(b(2), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, W, r(2), e)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
  end subroutine

  subroutine race_posted_clean()
    REQUEST :: r(2)
    if (rank /= 0) call MPI_Send(a, 1, MPI_INTEGER, 0, rank, W, e)
    if (rank /= 0) return
    call MPI_Irecv(b, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, W, r(1), e)
    call MPI_Irecv(b(2), 1, MPI_INTEGER, MPI_ANY_SOURCE, 2, W, r(2), e)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
  end subroutine

  subroutine run_case(name)
    character(*), intent(in) :: name
    select case (name)
    case ('message_truncated'); call message_truncated()
    case ('message_truncated_clean'); call message_truncated_clean()
    case ('message_kind'); call message_kind()
    case ('message_kind_clean'); call message_kind_clean()
    case ('message_row'); call message_row()
    case ('message_row_clean'); call message_row_clean()
    case ('unmatched_send'); call unmatched_send()
    case ('unmatched_send_clean'); call unmatched_send_clean()
    case ('unmatched_receive'); call unmatched_receive()
    case ('unmatched_receive_clean'); call unmatched_receive_clean()
    case ('collective_root'); call collective_root()
    case ('collective_root_clean'); call collective_root_clean()
    case ('collective_operator'); call collective_operator()
    case ('collective_operator_clean'); call collective_operator_clean()
    case ('collective_type'); call collective_type()
    case ('collective_type_clean'); call collective_type_clean()
    case ('overlap_receives'); call overlap_receives()
    case ('overlap_receives_clean'); call overlap_receives_clean()
    case ('overlap_aliased'); call overlap_aliased()
    case ('overlap_aliased_clean'); call overlap_aliased_clean()
    case ('modified_large'); call modified_large()
    case ('modified_large_clean'); call modified_large_clean()
    case ('modified_copy'); call modified_copy()
    case ('modified_copy_clean'); call modified_copy_clean()
    case ('leak_request'); call leak_request()
    case ('leak_request_clean'); call leak_request_clean()
    case ('leak_objects'); call leak_objects()
    case ('leak_objects_clean'); call leak_objects_clean()
    case ('handle_uncommitted'); call handle_uncommitted()
    case ('handle_uncommitted_clean'); call handle_uncommitted_clean()
    case ('handle_old_request'); call handle_old_request()
    case ('handle_old_request_clean'); call handle_old_request_clean()
    case ('deadlock_receives'); call deadlock_receives()
    case ('deadlock_receives_clean'); call deadlock_receives_clean()
    case ('deadlock_collective'); call deadlock_collective()
    case ('deadlock_collective_clean'); call deadlock_collective_clean()
    case ('buffering_sends'); call buffering_sends()
    case ('buffering_sends_clean'); call buffering_sends_clean()
    case ('buffering_collective'); call buffering_collective()
    case ('buffering_collective_clean'); call buffering_collective_clean()
    case ('race_receives'); call race_receives()
    case ('race_receives_clean'); call race_receives_clean()
    case ('race_posted'); call race_posted()
    case ('race_posted_clean'); call race_posted_clean()
    case default; stop 2
    end select
  end subroutine
end module

program defects
  use cases
  implicit none
  character(64) :: name
  integer :: i
  call MPI_Init(e)
  call MPI_Comm_rank(W, rank, e)
  call MPI_Comm_size(W, ranks, e)
  peer = ieor(rank, 1)
  do i = 1, command_argument_count() ! several cases, one after the other
    call get_command_argument(i, name)
    call run_case(trim(name))
    if (i < command_argument_count()) call MPI_Barrier(W, e)
  end do
  call MPI_Finalize(e)
end program
