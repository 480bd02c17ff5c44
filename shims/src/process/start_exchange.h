/* Exchanges with all ranks during MPI_Init.
 *
 * Not every launcher ends a job whose rank has died. So a rank that waits looks now and then whether the
 * ranks on its node are alive, and ends with a sentence if one is not. */
#ifndef EK_PROCESS_START_EXCHANGE_H
#define EK_PROCESS_START_EXCHANGE_H
#include "host/library.h"

/* Gathers `bytes` of each rank in `all`. Returns MPI's error code. */
int ek_start_exchange(const void *mine, int bytes, void *all);

/* Waits for a request, unless `code` says that it could not be made. */
int ek_start_await(int code, MPI_Request *request);

#endif
