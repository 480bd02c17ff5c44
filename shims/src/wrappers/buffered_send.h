/* Buffered sends of the host's.
 *
 * A barrier of the library's takes in the answers to earlier sends. So programs count on the room of a
 * buffered send whose receiver has entered the barrier. evenkeel's collectives call the library little, and
 * the library itself looks for answers only once when it finds no room. So it takes in what has come before
 * the first buffered send after a collective of evenkeel's. To repeat a send that was refused would be wrong:
 * in Open MPI 4 a refused send uses up a sequence number, and what is sent later to the same rank never
 * arrives. */
#ifndef EK_WRAPPERS_BUFFERED_SEND_H
#define EK_WRAPPERS_BUFFERED_SEND_H
#include "process/state.h"

/* Persistent buffered sends have been made. No call tells whether it starts one of them. */
extern EK_HIDDEN bool ek_buffered_sends_are_made;

/* To be called before a send that needs room in the host's buffer. */
static inline void ek_make_room_in_buffer(void)
{
    if (ek_serves_caller() && ek_host_is_behind(EK_BEHIND_FOR_SENDS))
        ek_host_catch_up();
}

#endif
