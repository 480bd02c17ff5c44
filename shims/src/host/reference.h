/* References of the host to functions of other libraries. */
#ifndef EK_HOST_REFERENCE_H
#define EK_HOST_REFERENCE_H
#include <stdbool.h>

/* Makes the host call `to` where it calls `name`, a function of another library, and that library, too, where
 * it calls its own function by the loader. Calls from elsewhere stay as they are; they would change if the
 * shim defined the function. `from` is first set to the function that the host called. False: the host has no
 * such reference, and nothing has changed. */
bool ek_host_redirect(const char *name, void *to, void **from);

#endif
