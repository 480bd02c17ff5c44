/* Whether this job may have memory of accelerators, which processors must not read or write. */
#ifndef EK_WORLD_DEVICES_H
#define EK_WORLD_DEVICES_H
#include <stdbool.h>

/* To be called once the host has started. A library that can be given pointers to device memory has loaded
 * the device's driver by then. Loads nothing. */
bool ek_driver_is_loaded(void);

#endif
