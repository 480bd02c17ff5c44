/* The program's MPI library, "the host": its functions and handles.
 *
 * The shim calls the host through ek_host only, whose PMPI functions are found at run time, and never by
 * name: a program may load its MPI library late and privately, as Python does. */
#ifndef EK_HOST_LIBRARY_H
#define EK_HOST_LIBRARY_H
#include "declared.h" /* generated: EK_HAS_X for every PMPI_X that the host's mpi.h declares */
#include EK_MPI_H
#include "host/hints.h"
#include <stdbool.h>

#ifdef OMPI_PREDEFINED_GLOBAL
/* Open MPI's handles are addresses of variables in its library. A reference by name would have to be resolved
 * when the shim is loaded, when there may be no library yet. So MPI_INT and its like are looked up, and hot
 * paths use ek_handles instead. */
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)ek_host_object(#global))
#endif

/* The functions of the host that the shim itself uses, as ek_host.Comm_rank(…). */
/* clang-format off */
#define EK_HOST_FUNCTIONS(X)                                                                                 \
    X(Allgather) X(Barrier) X(Bcast) X(Gather) X(Gatherv) X(Iallgather) X(Iallgatherv)                       \
    X(Comm_call_errhandler) X(Comm_create_keyval) X(Comm_dup) X(Comm_free) X(Comm_free_keyval)               \
    X(Comm_get_attr) X(Comm_get_errhandler) X(Comm_group) X(Comm_rank) X(Comm_remote_size) X(Comm_set_attr)  \
    X(Comm_set_errhandler) X(Comm_size) X(Comm_test_inter) X(Errhandler_free)                                \
    X(Comm_remote_group) X(Group_free) X(Group_size) X(Group_translate_ranks)                                \
    X(Error_class)                                                                                           \
    X(Get_count) X(Get_library_version) X(Query_thread) X(Test_cancelled)                                    \
    X(Grequest_complete) X(Grequest_start) X(Request_free) X(Request_get_status)                             \
    X(Test) X(Testall) X(Testany) X(Testsome)                                                                \
    X(Isend) X(Issend) X(Irsend) X(Irecv) X(Imrecv) X(Mrecv) X(Improbe) X(Iprobe) X(Recv_init) X(Start)      \
    X(Cancel)                                                                                                \
    X(Topo_test) X(Cartdim_get) X(Cart_shift) X(Graph_neighbors) X(Graph_neighbors_count)                    \
    X(Dist_graph_neighbors) X(Dist_graph_neighbors_count)                                                    \
    X(Status_set_cancelled) X(Status_set_elements_x)                                                         \
    X(Op_free) X(Pack) X(Unpack) X(Reduce_local)                                                             \
    X(Type_commit) X(Type_create_hindexed) X(Type_create_keyval) X(Type_dup) X(Type_free) X(Type_get_name)   \
    X(Type_get_extent_x) X(Type_get_true_extent_x) X(Type_set_attr) X(Type_size_x)
#ifdef EK_HAS_Pack_c
#define EK_HOST_FUNCTIONS_BY_AGE(X)                                                                          \
    X(Isend_c) X(Issend_c) X(Irsend_c) X(Irecv_c) X(Imrecv_c)                                                \
    X(Pack_c) X(Unpack_c) X(Reduce_local_c) X(Type_get_contents_c) X(Type_get_envelope_c)
#else
#define EK_HOST_FUNCTIONS_BY_AGE(X) X(Type_get_contents) X(Type_get_envelope)
#endif
/* clang-format on */

struct ek_host {
#define EK_MEMBER(name) __typeof__(PMPI_##name) *name;
    EK_HOST_FUNCTIONS(EK_MEMBER)
    EK_HOST_FUNCTIONS_BY_AGE(EK_MEMBER)
#undef EK_MEMBER
};
extern EK_HIDDEN struct ek_host ek_host;

/* Handles that hot paths compare with. */
struct ek_handles {
    MPI_Comm world, self, comm_null;
    MPI_Datatype type_null, byte;
    MPI_Op op_null;
    MPI_Request request_null;
};
extern EK_HIDDEN struct ek_handles ek_handles;

/* Open MPI's switch for yielding in calls that find nothing, which it turns on where it knows that ranks
 * outnumber cores; NULL in other libraries. It returns what was set before. */
extern EK_HIDDEN bool (*ek_host_set_yield)(bool yields);

/* Finds the host. Cheap when it has been found. */
void ek_host_resolve(void);

/* The next definition of a function or variable after the shim's; NULL: there is none. */
void *ek_host_function(const char *name);
void *ek_host_object(const char *name);

/* Whether the host's version says that it is `product`: "Open MPI". Also before MPI_Init. */
bool ek_host_is(const char *product);

/* Finds the host if that has not been done, and returns the next definition of a function. Without one, the
 * process ends with an error message. */
void *ek_host_definition(const char *name);

#endif
