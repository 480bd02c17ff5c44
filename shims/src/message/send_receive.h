/* What MPI_Sendrecv and MPI_Isendrecv have in common. */
#ifndef EK_MESSAGE_SEND_RECEIVE_H
#define EK_MESSAGE_SEND_RECEIVE_H
#include "message/transfer.h"

/* The two directions; the rank of one of them may be MPI_PROC_NULL. */
typedef struct ek_send_receive {
    const void *sent;
    MPI_Count sent_count;
    MPI_Datatype sent_type;
    int dest, sent_tag;
    void *received;
    MPI_Count received_count;
    MPI_Datatype received_type;
    int source, received_tag;
} ek_send_receive;

/* Whether evenkeel can carry out both directions. It cannot leave one of them to the host. */
bool ek_send_receive_is_valid(const ek_send_receive *, const ek_comm_entry *);

/* Starts both; an MPI error code. */
int ek_send_receive_start(const ek_send_receive *, const ek_comm_entry *, ek_transfer *in, ek_transfer *out);

#endif
