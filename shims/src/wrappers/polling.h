/* Blocking calls of the host, done by testing and progressing while operations of ours are under way: a rank
 * that sits in MPI_Recv or MPI_Wait still has to do its part of them. Each `next` is the host's own blocking
 * call. */
#ifndef EVENKEEL_WAITS_H
#define EVENKEEL_WAITS_H
#include "shim.h"

int ek_wait(MPI_Request *, MPI_Status *, __typeof__(PMPI_Wait) *next);
int ek_waitall(int, MPI_Request *, MPI_Status *, __typeof__(PMPI_Waitall) *next);
int ek_waitany(int, MPI_Request *, int *, MPI_Status *, __typeof__(PMPI_Waitany) *next);
int ek_waitsome(int, MPI_Request *, int *, int *, MPI_Status *, __typeof__(PMPI_Waitsome) *next);

int ek_probe(int source, int tag, MPI_Comm, MPI_Status *, __typeof__(PMPI_Probe) *next);
int ek_mprobe(int source, int tag, MPI_Comm, MPI_Message *, MPI_Status *, __typeof__(PMPI_Mprobe) *next);

/* Point-to-point calls with int and with MPI_Count. */
#define EK_WAITS_P2P(name, N)                                                                              \
    int ek_send##name(const void *, N, MPI_Datatype, int dest, int tag, MPI_Comm,                          \
                      __typeof__(PMPI_Send##name) *next);                                                  \
    int ek_ssend##name(const void *, N, MPI_Datatype, int dest, int tag, MPI_Comm,                         \
                       __typeof__(PMPI_Ssend##name) *next);                                                \
    int ek_rsend##name(const void *, N, MPI_Datatype, int dest, int tag, MPI_Comm,                         \
                       __typeof__(PMPI_Rsend##name) *next);                                                \
    int ek_recv##name(void *, N, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status *,                \
                      __typeof__(PMPI_Recv##name) *next);                                                  \
    int ek_mrecv##name(void *, N, MPI_Datatype, MPI_Message *, MPI_Status *,                               \
                       __typeof__(PMPI_Mrecv##name) *next);                                                \
    int ek_sendrecv##name(const void *, N, MPI_Datatype, int dest, int sendtag, void *, N, MPI_Datatype,   \
                          int source, int recvtag, MPI_Comm, MPI_Status *,                                 \
                          __typeof__(PMPI_Sendrecv##name) *next);                                          \
    int ek_sendrecv_replace##name(void *, N, MPI_Datatype, int dest, int sendtag, int source, int recvtag, \
                                  MPI_Comm, MPI_Status *, __typeof__(PMPI_Sendrecv_replace##name) *next);
EK_WAITS_P2P(, int)
#ifdef EK_HAS_Pack_c
EK_WAITS_P2P(_c, MPI_Count)
#endif
#undef EK_WAITS_P2P
#endif
