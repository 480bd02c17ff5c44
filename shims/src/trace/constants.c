#include "trace/constants.h"
#include "evenkeel.h"
#include "host/library.h"

#define NOTE(name) ek_checks_constant(#name, (uintptr_t)(name))

void ek_note_constants(void)
{
    NOTE(MPI_COMM_NULL);
    NOTE(MPI_COMM_WORLD);
    NOTE(MPI_COMM_SELF);
    NOTE(MPI_DATATYPE_NULL);
    NOTE(MPI_REQUEST_NULL);
    NOTE(MPI_GROUP_NULL);
    NOTE(MPI_GROUP_EMPTY);
    NOTE(MPI_OP_NULL);
    NOTE(MPI_WIN_NULL);
    NOTE(MPI_FILE_NULL);
    NOTE(MPI_INFO_NULL);
    NOTE(MPI_ERRHANDLER_NULL);
    NOTE(MPI_MESSAGE_NULL);
    NOTE(MPI_MESSAGE_NO_PROC);
    NOTE(MPI_MAX);
    NOTE(MPI_MIN);
    NOTE(MPI_SUM);
    NOTE(MPI_PROD);
    NOTE(MPI_LAND);
    NOTE(MPI_BAND);
    NOTE(MPI_LOR);
    NOTE(MPI_BOR);
    NOTE(MPI_LXOR);
    NOTE(MPI_BXOR);
    NOTE(MPI_MINLOC);
    NOTE(MPI_MAXLOC);
    NOTE(MPI_REPLACE);
    NOTE(MPI_NO_OP);
}
