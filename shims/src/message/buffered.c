#include "message/buffered.h"
#include "gate/deferral.h"
#include "message/arguments.h"
#include "process/errors.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct buffered {
    ek_transfer transfer;
    size_t bytes;
    struct buffered *next;
} buffered;

static buffered *under_way;
static size_t capacity, used;
static bool is_unlimited;

/* Gives back the room of sends of which the program may know that they are complete. `learns_order`: see
 * ek_message_is_complete. Whether a send finds room tells the program when earlier ones have been received.
 */
static void reap(bool learns_order)
{
    for (buffered **at = &under_way; *at;) {
        buffered *b = *at;
        if (!ek_transfer_is_complete(&b->transfer, learns_order)) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        used -= b->bytes;
        ek_transfer_finish(&b->transfer, MPI_STATUS_IGNORE);
        free(b);
    }
}

static bool has_room(size_t bytes) { return is_unlimited || (bytes <= capacity && used <= capacity - bytes); }

/* Takes in the answers that have come to earlier sends. Each poll takes some records of each channel, and an
 * answer may be behind many messages. */
static void take_answers(void)
{
    enum { MOST_POLLS = 10000 };
    for (int polls = 0; ek_messages_progress() && polls < MOST_POLLS; polls++)
        ;
    reap(true);
}

/* What strict barriers would have let complete is complete before a send finds no room. */
static bool make_room(size_t bytes)
{
    ek_messages_progress();
    reap(true);
    if (EK_LIKELY(has_room(bytes)))
        return true;
    if (ek_deferred)
        ek_complete_deferred("MPI_Bsend", false);
    take_answers();
    return has_room(bytes);
}

/* The host's own sentence would name the call by which evenkeel reports an error to it. */
static void say_that_there_is_no_room(const ek_comm_entry *e, size_t bytes, int dest)
{
    MPI_Comm comm = (MPI_Comm)atomic_load(&e->handle);
    char sentence[400];
    if (!ek_ends_program(comm))
        return;
    snprintf(
        sentence, sizeof sentence,
        "a buffered send (MPI_Bsend, MPI_Ibsend or MPI_Start) to rank %d found no room: it needs %zu bytes, "
        "the attached buffer has %zu, and earlier sends that have not been received use %zu of them; "
        "attach a larger buffer, or receive before sending more",
        dest, bytes, capacity, used);
    ek_note(sentence);
}

int ek_send_buffered(const ek_comm_entry *e, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                     int tag)
{
    ek_elements elements;
    ek_transfer t;
    if (!ek_elements_measure(&elements, count, type))
        return EK_DECLINED;
    size_t bytes = elements.bytes + MPI_BSEND_OVERHEAD;
    if (!make_room(bytes)) {
        say_that_there_is_no_room(e, bytes, dest);
        return MPI_ERR_BUFFER;
    }
    int code = ek_transfer_send(&t, e, buf, count, type, dest, tag, EK_BUFFERED);
    if (code || !t.message)
        return code;
    buffered *b = malloc(sizeof *b);
    if (!b)
        return MPI_ERR_NO_MEM;
    *b = (buffered){.transfer = t, .bytes = bytes, .next = under_way};
    under_way = b;
    used += bytes;
    return MPI_SUCCESS;
}

void ek_buffered_wait(void)
{
    ek_message_wait_begin();
    for (reap(false); under_way; reap(false))
        ek_message_wait_pause(EK_ALSO_AWAITED_NOTHING);
}

/* ---- MPI calls ---- */

/* The host gets the buffer too, for the communicators that it serves. */
int ek_try_buffer_attach(void *buffer, MPI_Count bytes)
{
#ifdef MPI_BUFFER_AUTOMATIC
    is_unlimited = is_unlimited || buffer == MPI_BUFFER_AUTOMATIC;
#endif
    (void)buffer;
    capacity = bytes > 0 ? (size_t)bytes : 0;
    return EK_DECLINED;
}

int ek_try_buffer_detach(void *buffer, void *bytes)
{
    (void)buffer, (void)bytes;
    EK_OPEN_GATE_SCOPE;
    ek_buffered_wait();
    capacity = 0;
    return EK_DECLINED;
}

/* Buffers that belong to one communicator are not accounted for: sends are never refused from then on. */
int ek_try_comm_attach_buffer(MPI_Comm comm, void *buffer, MPI_Count bytes)
{
    (void)comm, (void)buffer, (void)bytes;
    is_unlimited = true;
    return EK_DECLINED;
}

int ek_try_bsend(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    ek_comm_entry *e = ek_message_comm(comm);
    if (!e || dest == MPI_PROC_NULL)
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    int code = ek_send_buffered(e, buf, count, type, dest, tag);
    return code == EK_DECLINED ? code : ek_raise_checked(comm, e, code);
}
