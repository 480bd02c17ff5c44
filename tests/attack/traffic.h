/* The messages and collectives that order a history, each made in one of the ways that MPI has. */
#ifndef ATTACK_TRAFFIC_H
#define ATTACK_TRAFFIC_H
#include "channel.h"
#include <mpi.h>

static MPI_Comm comms[COMMS];
static MPI_Comm traffic; /* a duplicate of MPI_COMM_WORLD for the messages of histories */

/* ---- completion ---- */

/* Completes a request by one of the waits and tests. */
static void finish(MPI_Request *request, unsigned variant)
{
    int done = 0, index;
    switch (variant % 8) {
    case 0: MPI_Wait(request, MPI_STATUS_IGNORE); break;
    case 1: MPI_Waitall(1, request, MPI_STATUSES_IGNORE); break;
    case 2: MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE); break;
    case 3: MPI_Waitsome(1, request, &done, &index, MPI_STATUSES_IGNORE); break;
    case 4:
        while (!done)
            MPI_Test(request, &done, MPI_STATUS_IGNORE);
        break;
    case 5:
        while (!done)
            MPI_Testall(1, request, &done, MPI_STATUSES_IGNORE);
        break;
    case 6:
        while (!done)
            MPI_Testany(1, request, &index, &done, MPI_STATUS_IGNORE);
        break;
    default:
        while (!done)
            MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

static void start_and_finish(MPI_Request *persistent, unsigned variant)
{
    if (variant & 1)
        MPI_Start(persistent);
    else
        MPI_Startall(1, persistent);
    MPI_Wait(persistent, MPI_STATUS_IGNORE);
    MPI_Request_free(persistent);
}

/* ---- messages ---- */

enum {
    SEND_WAYS = 12,
    READY_SEND = 8,
    READY_TAG = 2000, /* plus the tag of the message: the receive is posted */
};

/* Whether the receive of this message is posted when the round begins. */
static bool is_posted_early(const struct event *e) { return e->variant >> 8 & 1; }

/* The receiver says that it has posted the receive. */
static bool is_ready_send(const struct event *e)
{
    return e->variant % SEND_WAYS == READY_SEND && !is_posted_early(e);
}

static void detach_buffer(void)
{
    void *buffer;
    int bytes;
    MPI_Buffer_detach(&buffer, &bytes);
    MPI_Buffer_attach(buffer, bytes);
}

static void send_message(const struct event *e, int tag)
{
    static int word;
    MPI_Request request;
    unsigned way = e->variant % SEND_WAYS, finishing = e->variant >> 12;
    if (way == READY_SEND && !is_ready_send(e))
        way = 0;
    switch (way) {
    case 0: MPI_Send(&word, 1, MPI_INT, e->peer, tag, traffic); break;
    case 1: MPI_Ssend(&word, 1, MPI_INT, e->peer, tag, traffic); break;
    case 2: MPI_Bsend(&word, 1, MPI_INT, e->peer, tag, traffic); break;
    case 3: MPI_Bsend(&word, 1, MPI_INT, e->peer, tag, traffic), detach_buffer(); break;
    case 4: MPI_Isend(&word, 1, MPI_INT, e->peer, tag, traffic, &request), finish(&request, finishing); break;
    case 5:
        MPI_Issend(&word, 1, MPI_INT, e->peer, tag, traffic, &request), finish(&request, finishing);
        break;
    case 6:
        MPI_Isend(&word, 1, MPI_INT, e->peer, tag, traffic, &request);
        MPI_Request_free(&request);
        break;
    case 7:
        MPI_Ssend_init(&word, 1, MPI_INT, e->peer, tag, traffic, &request);
        start_and_finish(&request, finishing);
        break;
    case READY_SEND:
        MPI_Recv(NULL, 0, MPI_INT, e->peer, READY_TAG + tag, traffic, MPI_STATUS_IGNORE);
        MPI_Rsend(&word, 1, MPI_INT, e->peer, tag, traffic);
        break;
    case 9:
        MPI_Ibsend(&word, 1, MPI_INT, e->peer, tag, traffic, &request);
        finish(&request, finishing);
        break;
    case 10:
        MPI_Bsend_init(&word, 1, MPI_INT, e->peer, tag, traffic, &request);
        start_and_finish(&request, finishing);
        break;
    default:
        MPI_Send_init(&word, 1, MPI_INT, e->peer, tag, traffic, &request);
        start_and_finish(&request, finishing);
    }
}

static MPI_Request posted[MAX_EVENTS];
static int received_word[MAX_EVENTS];

/* Posts the receives that a round begins with. */
static void post_early(const struct history *h)
{
    for (int i = 0; i < h->events; i++) {
        const struct event *e = &h->event[i];
        posted[i] = MPI_REQUEST_NULL;
        if (e->kind == MESSAGE && e->peer == me && is_posted_early(e))
            MPI_Irecv(&received_word[i], 1, MPI_INT, e->rank, i, traffic, &posted[i]);
    }
}

static void receive_message(const struct event *e, int tag)
{
    MPI_Request request;
    MPI_Message message;
    int word, from = e->variant >> 9 & 1 ? MPI_ANY_SOURCE : e->rank;
    unsigned finishing = e->variant >> 16;
    if (is_ready_send(e)) {
        MPI_Irecv(&word, 1, MPI_INT, from, tag, traffic, &request);
        MPI_Send(NULL, 0, MPI_INT, e->rank, READY_TAG + tag, traffic);
        finish(&request, finishing);
        return;
    }
    switch ((e->variant >> 20) % 6) {
    case 0: MPI_Recv(&word, 1, MPI_INT, from, tag, traffic, MPI_STATUS_IGNORE); break;
    case 1: MPI_Irecv(&word, 1, MPI_INT, from, tag, traffic, &request), finish(&request, finishing); break;
    case 2:
        MPI_Mprobe(from, tag, traffic, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Mprobe(from, tag, traffic, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(&word, 1, MPI_INT, &message, &request);
        finish(&request, finishing);
        break;
    case 4:
        MPI_Probe(from, tag, traffic, MPI_STATUS_IGNORE);
        MPI_Recv(&word, 1, MPI_INT, from, tag, traffic, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Recv_init(&word, 1, MPI_INT, from, tag, traffic, &request);
        start_and_finish(&request, finishing);
    }
}

static void run_message(const struct event *e, int tag)
{
    if (e->rank == me)
        send_message(e, tag);
    else if (e->peer == me && is_posted_early(e))
        finish(&posted[tag], e->variant >> 16);
    else if (e->peer == me)
        receive_message(e, tag);
}

/* ---- collectives ---- */

static int in[MAX_RANKS], out[MAX_RANKS];

static void broadcast(int way, int root, MPI_Comm comm, MPI_Request *request)
{
    switch (way) {
    case 0: MPI_Bcast(in, 1, MPI_INT, root, comm); break;
    case 1: MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, root, comm); break;
    default: MPI_Ibcast(in, 1, MPI_INT, root, comm, request);
    }
}

static void reduce(int way, int root, MPI_Comm comm, MPI_Request *request)
{
    switch (way) {
    case 0: MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, root, comm); break;
    case 1: MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, comm); break;
    default: MPI_Ireduce(in, out, 1, MPI_INT, MPI_SUM, root, comm, request);
    }
}

static void allreduce(int way, MPI_Comm comm, MPI_Request *request)
{
    switch (way) {
    case 0: MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm); break;
    case 1: MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm); break;
    case 2: MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm); break;
    case 3: MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm); break;
    default: MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, request);
    }
}

static void duplicate(MPI_Comm comm)
{
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
}

/* The root is a rank of the communicator. */
static void run_collective(const struct event *e, int root)
{
    MPI_Comm comm = comms[e->comm];
    MPI_Request request = MPI_REQUEST_NULL;
    switch (e->kind) {
    case BARRIER:
        if (e->variant % 8)
            MPI_Barrier(comm);
        else
            MPI_Ibarrier(comm, &request);
        break;
    case BROADCAST: broadcast((int)(e->variant % 3), root, comm, &request); break;
    case REDUCE: reduce((int)(e->variant % 3), root, comm, &request); break;
    case DUPLICATE: duplicate(comm); break;
    default: allreduce((int)(e->variant % 5), comm, &request);
    }
    finish(&request, e->variant >> 12);
}

#endif
