#include "collective/collective.h"
#include "collective/describe.h"
#include "collective/plain_call.h"
#include "collective/nonblocking.h"
#include "gate/deferral.h"
#include "process/errors.h"
#include "process/faults.h"

static int run_plain(const ek_comm_entry *e, const ek_arguments *a, ek_call *call)
{
    int code = ek_run(e->engine, call);
    return EK_LIKELY(code == EK_DONE) || code == EK_DECLINED ? code : ek_raise(a->comm, ek_error_class(code));
}

static int run(ek_comm_entry *e, const ek_arguments *a)
{
    ek_marshal m;
    int code = ek_describe(&m, e, a);
    if (code)
        return code == EK_DECLINED ? code : ek_raise(a->comm, code);
    code = ek_run(e->engine, &m.call);
    if (EK_LIKELY(code == EK_DONE)) {
        code = ek_marshal_end(&m);
        return EK_LIKELY(!code) ? MPI_SUCCESS : ek_raise(a->comm, code);
    }
    ek_marshal_discard(&m);
    if (code != EK_DECLINED)
        code = ek_error_class(code);
    else if (m.failure)
        code = m.failure;
    return code == EK_DECLINED ? code : ek_raise(a->comm, code);
}

static int carry_out(ek_comm_entry *e, const ek_arguments *a)
{
    if (EK_UNLIKELY(!e->served)) {
        ek_comm_count_host_call(e->engine, a->kind, a->request != NULL);
        return EK_DECLINED;
    }
    ek_note_collective();
    ek_call call;
    if (!a->request && ek_describe_plain_call(&call, a, e))
        return run_plain(e, a, &call);
    if (!a->request)
        return run(e, a);
    int code = ek_collective_start(e, a);
    bool is_own = code == MPI_ERR_NO_MEM || code == MPI_ERR_TYPE; /* the host has raised its own */
    return is_own ? ek_raise(a->comm, code) : code;
}

int ek_try_collective(ek_comm_entry *e, const ek_arguments *a)
{
    ek_gate = 0;
    int code = carry_out(e, a);
    ek_gate_close_if_deferred();
    return code;
}
