/* Reporting errors as MPI does: to the communicator's error handler. */
#ifndef EK_PROCESS_ERRORS_H
#define EK_PROCESS_ERRORS_H
#include "process/communicator.h"

/* Whether an error handler is the host's: it returns, or ends the program. */
bool ek_errhandler_is_predefined(MPI_Errhandler);

/* These call the error handler, which may end the program, and return `code`. */

int ek_raise(MPI_Comm, int code);

/* As ek_raise, but calls the handler of MPI_COMM_WORLD if `entry`, which was the communicator's, no longer
 * is. Nothing is raised for MPI_SUCCESS. */
int ek_raise_checked(MPI_Comm, const ek_comm_entry *entry, int code);

/* Whether the communicator's error handler is one of the library's that end the program. */
bool ek_ends_program(MPI_Comm);

#endif
