/* Blocking calls of the host, taken apart into a nonblocking call and tests while operations of evenkeel's
 * are under way, because a rank that waits in MPI_Recv or MPI_Wait still has to do its part of them
 * (ek_must_progress).
 *
 * ek_poll_x is MPI_X; `next` is the host's own blocking call. */
#ifndef EK_WRAPPERS_POLLING_H
#define EK_WRAPPERS_POLLING_H
#include "host/library.h"

int ek_poll_wait(MPI_Request *, MPI_Status *, __typeof__(PMPI_Wait) *next);
int ek_poll_waitall(int, MPI_Request *, MPI_Status *, __typeof__(PMPI_Waitall) *next);
int ek_poll_waitany(int, MPI_Request *, int *, MPI_Status *, __typeof__(PMPI_Waitany) *next);
int ek_poll_waitsome(int, MPI_Request *, int *, int *, MPI_Status *, __typeof__(PMPI_Waitsome) *next);

int ek_poll_probe(int source, int tag, MPI_Comm, MPI_Status *, __typeof__(PMPI_Probe) *next);
int ek_poll_mprobe(int source, int tag, MPI_Comm, MPI_Message *, MPI_Status *, __typeof__(PMPI_Mprobe) *next);

/* Point-to-point calls, with counts of type `N`. */
#define EK_POLL_POINT_TO_POINT(suffix, N)                                                            \
    int ek_poll_send##suffix(const void *, N, MPI_Datatype, int dest, int tag, MPI_Comm,             \
                             __typeof__(PMPI_Send##suffix) *next);                                   \
    int ek_poll_ssend##suffix(const void *, N, MPI_Datatype, int dest, int tag, MPI_Comm,            \
                              __typeof__(PMPI_Ssend##suffix) *next);                                 \
    int ek_poll_rsend##suffix(const void *, N, MPI_Datatype, int dest, int tag, MPI_Comm,            \
                              __typeof__(PMPI_Rsend##suffix) *next);                                 \
    int ek_poll_recv##suffix(void *, N, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status *,   \
                             __typeof__(PMPI_Recv##suffix) *next);                                   \
    int ek_poll_mrecv##suffix(void *, N, MPI_Datatype, MPI_Message *, MPI_Status *,                  \
                              __typeof__(PMPI_Mrecv##suffix) *next);                                 \
    int ek_poll_sendrecv##suffix(const void *, N, MPI_Datatype, int dest, int sendtag, void *, N,    \
                                 MPI_Datatype, int source, int recvtag, MPI_Comm, MPI_Status *,      \
                                 __typeof__(PMPI_Sendrecv##suffix) *next);                           \
    int ek_poll_sendrecv_replace##suffix(void *, N, MPI_Datatype, int dest, int sendtag, int source, \
                                         int recvtag, MPI_Comm, MPI_Status *,                        \
                                         __typeof__(PMPI_Sendrecv_replace##suffix) *next);
EK_POLL_POINT_TO_POINT(, int)
#ifdef EK_HAS_Pack_c
EK_POLL_POINT_TO_POINT(_c, MPI_Count)
#endif
#undef EK_POLL_POINT_TO_POINT
#endif
