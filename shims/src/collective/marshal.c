/* A job: one collective call made ready for the engine, and what is left to do when it is complete. */
#include "shim.h"

void *ek_job_alloc(ek_job *job, size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (memory)
        job->owned[job->owned_used++] = memory;
    return memory;
}

void ek_job_settle(ek_job *job)
{
    for (int i = 0; i < job->pieces_used; i++) {
        const ek_piece *p = &job->pieces[i];
        ek_unpack(p->packed, p->count, p->type, p->size, p->extent, p->user);
    }
    while (job->owned_used)
        free(job->owned[--job->owned_used]);
}

int ek_prepare(ek_job *job, ek_entry *e, const ek_args *a)
{
    job->entry = e;
    job->pieces_used = job->owned_used = 0;
    job->pieces = &job->piece;
    job->call = (ek_call){.kind = a->kind, .root = a->root};
    int code;
    switch (a->kind) {
    case EK_BARRIER:
        code = ek_takes(e->ek, EK_BARRIER, 0, 0, NULL, a->request != NULL) ? MPI_SUCCESS : EK_HOST_SHALL;
        break;
    case EK_REDUCE:
    case EK_ALLREDUCE:
    case EK_SCAN:
    case EK_EXSCAN:
    case EK_REDUCE_SCATTER:
    case EK_REDUCE_SCATTER_BLOCK: code = ek_prepare_reduction(job, a); break;
    case EK_BCAST:
    case EK_GATHER:
    case EK_SCATTER:
    case EK_ALLGATHER:
    case EK_ALLTOALL: code = ek_prepare_even(job, a); break;
    default: code = ek_prepare_uneven(job, a);
    }
    if (code) { /* nothing has happened yet: nothing to unpack */
        job->pieces_used = 0;
        ek_job_settle(job);
    }
    return code;
}

bool ek_measure(ek_side *side, MPI_Count count, MPI_Datatype handle)
{
    side->handle = handle;
    side->count = count;
    side->type = ek_type_of(handle, &side->scratch);
    MPI_Count bytes;
    if (count < 0 || !side->type || __builtin_mul_overflow(count, side->type->size, &bytes) ||
        bytes > PTRDIFF_MAX / 4)
        return false;
    side->bytes = (size_t)bytes;
    return true;
}

bool ek_granted(const ek_job *job, const ek_args *a, size_t bytes)
{
    return ek_takes(job->entry->ek, a->kind, bytes, job->call.elem_bytes, job->call.combine,
                    a->request != NULL);
}

int ek_hand_over(ek_job *job, const ek_side *side, const void *user, MPI_Count elements, char *place,
                 const void **bytes)
{
    if (side->type->dense) {
        *bytes = user;
        return user || !elements || !side->type->size ? MPI_SUCCESS : EK_HOST_SHALL;
    }
    if (!place && !(place = ek_job_alloc(job, (size_t)(elements * side->type->size))))
        return MPI_ERR_NO_MEM;
    *bytes = place;
    return ek_pack(user, elements, side->handle, side->type, place) ? EK_HOST_SHALL : MPI_SUCCESS;
}

void ek_add_piece(ek_job *job, const ek_side *side, void *user, MPI_Count elements, const char *packed)
{
    job->pieces[job->pieces_used++] = (ek_piece){.packed = packed,
                                                 .user = user,
                                                 .count = elements,
                                                 .size = side->type->size,
                                                 .extent = side->type->extent,
                                                 .type = side->handle};
}

int ek_expect(ek_job *job, const ek_side *side, void *user, MPI_Count elements, void **bytes)
{
    if (side->type->dense) {
        *bytes = user;
        return user || !elements || !side->type->size ? MPI_SUCCESS : EK_HOST_SHALL;
    }
    char *place = ek_job_alloc(job, (size_t)(elements * side->type->size));
    if (!place)
        return MPI_ERR_NO_MEM;
    ek_add_piece(job, side, user, elements, place);
    *bytes = place;
    return MPI_SUCCESS;
}
