/* Channels through MPI itself: messages that have come or not, receives that were posted or not, MPI-IO. */
#ifndef ATTACK_CHANNELS_MPI_H
#define ATTACK_CHANNELS_MPI_H
#include "channel.h"
#include <mpi.h>

enum { MESSAGE_TAG = 1001, MATCH_TAG = 1002, MOST_MESSAGES = 6, MOST_MATCHES = 2 };

/* ---- messages ---- */

static MPI_Request sends[MOST_MESSAGES * MAX_RANKS];
static int open_sends;
static unsigned sent, received[MAX_RANKS];
static char payload[64], incoming[64];

static void attach_buffer(void)
{
    static char buffer[1 << 18];
    MPI_Buffer_attach(buffer, sizeof buffer);
}

static void send_one(int to, unsigned way)
{
    MPI_Request request;
    switch (way) {
    case 0: MPI_Send(payload, 8, MPI_BYTE, to, MESSAGE_TAG, MPI_COMM_WORLD); break;
    case 1: MPI_Bsend(payload, 8, MPI_BYTE, to, MESSAGE_TAG, MPI_COMM_WORLD); break;
    case 2:
        MPI_Send_init(payload, 8, MPI_BYTE, to, MESSAGE_TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Request_free(&request);
        break;
    case 3:
        MPI_Isend(payload, 8, MPI_BYTE, to, MESSAGE_TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        break;
    case 4: MPI_Issend(payload, 8, MPI_BYTE, to, MESSAGE_TAG, MPI_COMM_WORLD, &sends[open_sends++]); break;
    default: MPI_Isend(payload, 8, MPI_BYTE, to, MESSAGE_TAG, MPI_COMM_WORLD, &sends[open_sends++]);
    }
}

static void message_act(unsigned count, unsigned variant)
{
    (void)count;
    sent++;
    for (int r = 0; r < ranks; r++)
        if (r != me)
            send_one(r, variant % 6);
}

/* Posts a receive and asks whether it is complete; cancels it otherwise. Whether it received a message. */
static bool receive_or_cancel(int rank, unsigned variant)
{
    MPI_Request receive;
    MPI_Status status;
    int done = 0, cancelled = 0, index, outcome;
    if (variant & 8) {
        MPI_Recv_init(incoming, 8, MPI_BYTE, rank, MESSAGE_TAG, MPI_COMM_WORLD, &receive);
        MPI_Start(&receive);
    } else {
        MPI_Irecv(incoming, 8, MPI_BYTE, rank, MESSAGE_TAG, MPI_COMM_WORLD, &receive);
    }
    switch (variant % 6) {
    case 0: MPI_Test(&receive, &done, MPI_STATUS_IGNORE); break;
    case 1: MPI_Testany(1, &receive, &index, &done, MPI_STATUS_IGNORE); break;
    case 2: MPI_Testsome(1, &receive, &outcome, &index, MPI_STATUSES_IGNORE), done = outcome == 1; break;
    case 3: MPI_Testall(1, &receive, &done, MPI_STATUSES_IGNORE); break;
    case 4: MPI_Request_get_status(receive, &done, MPI_STATUS_IGNORE); break;
    default: break; /* cancelled at once */
    }
    if (!done)
        MPI_Cancel(&receive);
    if (receive != MPI_REQUEST_NULL) {
        MPI_Wait(&receive, &status);
        MPI_Test_cancelled(&status, &cancelled);
    }
    if (receive != MPI_REQUEST_NULL)
        MPI_Request_free(&receive);
    return done || !cancelled;
}

/* Receives a message if one has come, and counts it. Returns whether one had come. */
static bool take_message(int rank, unsigned variant)
{
    int flag = 0, from = variant & 1 ? MPI_ANY_SOURCE : rank;
    MPI_Message message;
    MPI_Status status;
    variant /= 2;
    switch (variant % 3) {
    case 0:
        MPI_Iprobe(from, MESSAGE_TAG, MPI_COMM_WORLD, &flag, &status);
        if (flag)
            MPI_Recv(incoming, 8, MPI_BYTE, status.MPI_SOURCE, MESSAGE_TAG, MPI_COMM_WORLD, &status);
        break;
    case 1:
        MPI_Improbe(from, MESSAGE_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        if (flag)
            MPI_Mrecv(incoming, 8, MPI_BYTE, &message, &status);
        break;
    default: flag = receive_or_cancel(rank, variant / 3); status.MPI_SOURCE = rank;
    }
    if (flag)
        received[status.MPI_SOURCE]++;
    return flag;
}

/* A library may need several calls to find what has come, so a message may be seen late, but never early:
 * what must be there is awaited by settle, and a message that never comes is a hang. */
static long message_seen(int rank, unsigned variant)
{
    while (take_message(rank, variant))
        ;
    return received[rank];
}

static void message_settle(void)
{
    unsigned all[MAX_RANKS];
    MPI_Allgather(&sent, 1, MPI_UNSIGNED, all, 1, MPI_UNSIGNED, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        for (; r != me && received[r] < all[r]; received[r]++)
            MPI_Recv(incoming, 8, MPI_BYTE, r, MESSAGE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(open_sends, sends, MPI_STATUSES_IGNORE);
    open_sends = 0;
    sent = 0;
    memset(received, 0, sizeof received);
}

/* ---- whether a receive was posted, as a synchronous send shows it ---- */

static MPI_Request waiting[MAX_RANKS][MOST_MATCHES];
static int matched;

static void match_begin(void)
{
    matched = 0;
    for (int i = 0; i < MOST_MATCHES; i++)
        for (int r = 0; r < ranks; r++)
            if (r != me)
                MPI_Issend(payload, 8, MPI_BYTE, r, MATCH_TAG, MPI_COMM_WORLD, &waiting[r][i]);
}

static void receive_match(int from, unsigned way)
{
    MPI_Request request;
    MPI_Message message;
    switch (way) {
    case 0: MPI_Recv(incoming, 8, MPI_BYTE, from, MATCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 1:
        MPI_Irecv(incoming, 8, MPI_BYTE, from, MATCH_TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request); /* it is received nevertheless */
        break;
    case 2:
        MPI_Mprobe(from, MATCH_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(incoming, 8, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Recv_init(incoming, 8, MPI_BYTE, from, MATCH_TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

static void match_act(unsigned count, unsigned variant)
{
    (void)count;
    matched++;
    for (int r = 0; r < ranks; r++)
        if (r != me)
            receive_match(r, variant % 4);
}

static long match_seen(int rank, unsigned variant)
{
    int done, index, some[MOST_MATCHES], complete = 0;
    MPI_Request *all = waiting[rank];
    if (variant % 4 == 2)
        MPI_Testany(MOST_MATCHES, all, &index, &done, MPI_STATUS_IGNORE);
    else if (variant % 4 == 3)
        MPI_Testsome(MOST_MATCHES, all, &done, some, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MOST_MATCHES; i++) {
        if (variant & 1)
            MPI_Request_get_status(all[i], &done, MPI_STATUS_IGNORE);
        else
            MPI_Test(&all[i], &done, MPI_STATUS_IGNORE);
        complete += done;
    }
    return complete;
}

static void match_settle(void)
{
    while (matched < MOST_MATCHES)
        match_act(0, 0);
    for (int r = 0; r < ranks; r++)
        if (r != me)
            MPI_Waitall(MOST_MATCHES, waiting[r], MPI_STATUSES_IGNORE);
}

/* ---- MPI-IO ---- */

static MPI_File mpi_file[MAX_RANKS];

static bool mpi_file_make(void)
{
    return !MPI_File_open(MPI_COMM_SELF, path_of("mpi-file", me), MPI_MODE_CREATE | MPI_MODE_RDWR,
                          MPI_INFO_NULL, &mpi_file[me]) &&
           !MPI_File_set_size(mpi_file[me], 0);
}

static bool mpi_file_open(void)
{
    for (int r = 0; r < ranks; r++)
        if (r != me && MPI_File_open(MPI_COMM_SELF, path_of("mpi-file", r), MPI_MODE_RDONLY, MPI_INFO_NULL,
                                     &mpi_file[r]))
            return false;
    return true;
}

static void mpi_file_act(unsigned count, unsigned variant)
{
    if (variant & 1)
        MPI_File_set_size(mpi_file[me], count);
    else
        MPI_File_write_at(mpi_file[me], count - 1, payload, 1, MPI_BYTE, MPI_STATUS_IGNORE);
}

static long mpi_file_seen(int rank, unsigned variant)
{
    MPI_Offset size;
    (void)variant;
    MPI_File_get_size(mpi_file[rank], &size);
    return (long)size;
}

#endif
