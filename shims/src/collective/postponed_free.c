#include "collective/postponed_free.h"
#include "host/datatype.h"
#include "process/state.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct postponed {
    struct postponed *next;
    bool is_op;
    MPI_Op op;
    MPI_Datatype type;
} postponed;

static _Atomic(postponed *) list; /* changed under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool postpone(postponed what)
{
    if (!ek_process.collectives)
        return false;
    postponed *p = malloc(sizeof *p);
    if (!p)
        return false;
    *p = what;
    pthread_mutex_lock(&lock);
    p->next = list;
    list = p;
    pthread_mutex_unlock(&lock);
    ek_free_postponed();
    return true;
}

bool ek_postpone_op_free(MPI_Op op)
{
    return ek_operator_of(op) == EK_OPERATOR_CUSTOM && postpone((postponed){.is_op = true, .op = op});
}

bool ek_postpone_type_free(MPI_Datatype type)
{
    ek_type scratch;
    if (!ek_process.collectives) /* or a type that was never used would be examined here */
        return false;
    const ek_type *t = ek_type_of(type, &scratch);
    return t && !t->predefined && postpone((postponed){.type = type});
}

void ek_free_postponed(void)
{
    if (!list)
        return;
    /* What is on the list was freed by the program: nothing that begins now uses it. */
    pthread_mutex_lock(&lock);
    postponed *freed = ek_process.collectives ? NULL : list;
    if (freed)
        list = NULL;
    pthread_mutex_unlock(&lock);
    while (freed) {
        postponed *p = freed;
        freed = p->next;
        if (p->is_op)
            ek_host.Op_free(&p->op);
        else
            ek_host.Type_free(&p->type);
        free(p);
    }
}
