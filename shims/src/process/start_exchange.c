#include "process/start_exchange.h"
#include "evenkeel.h"

int ek_start_await(int code, MPI_Request *request)
{
    ek_pause pause = {0};
    for (int done = 0; !code && !done;) {
        code = ek_host.Test(request, &done, MPI_STATUS_IGNORE);
        if (!code && !done)
            ek_start_pause_once(&pause);
    }
    return code;
}

int ek_start_exchange(const void *mine, int bytes, void *all)
{
    MPI_Request request = ek_handles.request_null;
    int code = ek_host.Iallgather(mine, bytes, ek_handles.byte, all, bytes, ek_handles.byte, ek_handles.world,
                                  &request);
    return ek_start_await(code, &request);
}
