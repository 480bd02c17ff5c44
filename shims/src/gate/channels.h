/* The ways by which this program shares memory or control with others without asking the kernel each time.
 * While there is one, barriers are strict. */
#ifndef EK_GATE_CHANNELS_H
#define EK_GATE_CHANNELS_H
#include "evenkeel.h"

/* To be called when the program makes such a channel, by the function `how`. It stays for good. */
void ek_channel_open(ek_channel, const char *how);

/* The same for one that tells the program nothing before the next barrier: what is pending stays pending. */
void ek_channel_will_open(ek_channel);

/* Tells the engine of the channels that there were before barriers might be deferred. */
void ek_channels_report(void);

/* To be called when a one-sided window is made, and when one is freed. */
void ek_window_made(void);
void ek_window_freed(void);

#endif
