/* References of the host to functions of other libraries. */
#ifndef EK_HOST_REFERENCE_H
#define EK_HOST_REFERENCE_H

/* Makes the host call `to` where it calls `name`, a function of another library. Calls from elsewhere stay as
 * they are; they would change if the shim defined the function. Returns the function that the host called;
 * NULL: it has no such reference, and nothing has changed. */
void *ek_host_redirect(const char *name, void *to);

#endif
