#include "gate/channels.h"
#include "process/state.h"

static _Atomic unsigned open_channels; /* one bit each */
static _Atomic int windows;

void ek_channel_will_open(ek_channel channel)
{
    atomic_fetch_or(&open_channels, 1u << channel);
    if (ek_process.may_defer)
        ek_deferral_forbid(channel);
}

void ek_channel_open(ek_channel channel, const char *how)
{
    if (ek_gate)
        ek_complete_deferred(how, false);
    ek_channel_will_open(channel);
}

void ek_channels_report(void)
{
    for (uint32_t channel = 0; channel < EK_CHANNELS; channel++)
        if (atomic_load(&open_channels) & 1u << channel)
            ek_deferral_forbid(channel);
}

void ek_window_made(void)
{
    atomic_fetch_add(&windows, 1);
    if (ek_process.may_defer)
        ek_deferral_forbid(EK_CHANNEL_WINDOWS);
}

void ek_window_freed(void)
{
    if (atomic_fetch_sub(&windows, 1) == 1 && ek_process.may_defer)
        ek_deferral_permit(EK_CHANNEL_WINDOWS);
}
