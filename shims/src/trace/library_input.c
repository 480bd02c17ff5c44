/* What the program gets from the C library and what differs in each run, interposed: clocks and random
 * numbers. A trace holds them, and a repetition gives the recorded ones. What the MPI library and evenkeel
 * itself ask for stays as it is. */
#define _GNU_SOURCE
#include "gate/clocks.h"
#include "gate/origin.h"
#include "trace/start.h"
#include "trace/state.h"
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <sys/types.h>
#include <time.h>

/* The numbers of the crate `trace` (`format.rs`): below, those that the kernel gives clocks. */
enum { FIRST_NUMBER = 16, GETTIMEOFDAY = FIRST_NUMBER, TIME, FTIME, TIMESPEC_GET, CLOCK };

enum { RANDOM, GETRUSAGE, TIMES };

enum { NS = 1000000000, US = 1000000, MS = 1000 };

/* Before MPI_Init the rank's only thread, as a rule, is the one that runs this. */
__attribute__((constructor)) static void begin(void)
{
    ek_trace.thread = pthread_self();
    ek_trace.mode = ek_trace_before_init();
    if (ek_trace.mode != EK_TRACE_MODE_OFF)
        pthread_atfork(NULL, NULL, ek_traces_forget);
}

/* Whether the program has called from there, by caller: to look it up takes microseconds. */
static bool is_of_program(const void *caller)
{
    enum { SLOTS = 64 };
    static struct {
        const void *caller;
        bool is_program;
    } known[SLOTS]; /* of the thread that is traced */
    static bool was_started;
    if (was_started != ek_trace.is_started) { /* what the MPI library has loaded is known only now */
        memset(known, 0, sizeof known);
        was_started = ek_trace.is_started;
    }
    const size_t slot = ((uintptr_t)caller >> 2) % SLOTS;
    if (known[slot].caller != caller) {
        known[slot].is_program = ek_is_program(caller);
        known[slot].caller = caller;
    }
    return known[slot].is_program;
}

static __attribute__((noinline, cold)) bool is_traced_call(const void *caller)
{
    return !ek_depth && !ek_trace_depth && pthread_equal(pthread_self(), ek_trace.thread) &&
           is_of_program(caller);
}

/* Whether a call is to be traced. */
static inline bool is_traced(const void *caller)
{
    return EK_UNLIKELY(ek_trace.mode != EK_TRACE_MODE_OFF) && is_traced_call(caller);
}

#define IS_TRACED is_traced(EK_CALLER)

/* Notes a value, or returns the recorded one. */
static int64_t value_of(int clock, int64_t value)
{
    ek_trace_depth++; /* a signal handler of the program's may read a clock meanwhile */
    value = ek_trace_library_clock((uint8_t)clock, value);
    ek_trace_depth--;
    return value;
}

/* Notes bytes, or replaces them by the recorded ones. */
static void bytes_of(int source, void *given, size_t count)
{
    ek_trace_depth++;
    ek_trace_library_bytes((uint8_t)source, given, count);
    ek_trace_depth--;
}

static void timespec_of(int clock, struct timespec *now)
{
    int64_t ns = value_of(clock, (int64_t)now->tv_sec * NS + now->tv_nsec);
    now->tv_sec = ns / NS;
    now->tv_nsec = ns % NS;
}

/* ---- clocks ---- */

EK_ENTRY int clock_gettime(clockid_t clock, struct timespec *now)
{
    EK_NEXT(clock_gettime);
    EK_COMPLETE_BEFORE_CLOCK("clock_gettime", ek_clock_is_shared(clock), EK_CALLER);
    int failed = next(clock, now);
    /* Others are of files and of other processes. */
    if (!failed && clock >= 0 && clock < FIRST_NUMBER && IS_TRACED)
        timespec_of(clock, now);
    return failed;
}

EK_ENTRY int timespec_get(struct timespec *now, int base)
{
    EK_NEXT(timespec_get);
    EK_COMPLETE_BEFORE_CLOCK("timespec_get", true, EK_CALLER);
    int got = next(now, base);
    if (got && IS_TRACED)
        timespec_of(TIMESPEC_GET, now);
    return got;
}

EK_ENTRY int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    EK_NEXT(gettimeofday);
    EK_COMPLETE_BEFORE_CLOCK("gettimeofday", true, EK_CALLER);
    int failed = next(now, zone);
    if (!failed && IS_TRACED) {
        int64_t us = value_of(GETTIMEOFDAY, (int64_t)now->tv_sec * US + now->tv_usec);
        now->tv_sec = us / US;
        now->tv_usec = us % US;
    }
    return failed;
}

EK_ENTRY time_t time(time_t *now)
{
    EK_NEXT(time);
    EK_COMPLETE_BEFORE_CLOCK("time", true, EK_CALLER);
    time_t seconds = next(NULL);
    if (IS_TRACED)
        seconds = value_of(TIME, seconds);
    if (now)
        *now = seconds;
    return seconds;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
EK_ENTRY int ftime(struct timeb *now)
{
    EK_NEXT(ftime);
    EK_COMPLETE_BEFORE_CLOCK("ftime", true, EK_CALLER);
    int failed = next(now);
    if (!failed && IS_TRACED) {
        int64_t ms = value_of(FTIME, (int64_t)now->time * MS + now->millitm);
        now->time = ms / MS;
        now->millitm = ms % MS;
    }
    return failed;
}

EK_ENTRY clock_t clock(void)
{
    EK_NEXT(clock);
    clock_t ticks = next();
    return IS_TRACED ? (clock_t)value_of(CLOCK, ticks) : ticks;
}

/* Fortran's CPU_TIME reads this one. */
EK_ENTRY int getrusage(__rusage_who_t who, struct rusage *used)
{
    EK_NEXT(getrusage);
    int failed = next(who, used);
    if (!failed && IS_TRACED)
        bytes_of(GETRUSAGE, used, sizeof *used);
    return failed;
}

EK_ENTRY clock_t times(struct tms *used)
{
    EK_NEXT(times);
    struct {
        struct tms used;
        clock_t now;
    } all = {.now = -1};
    all.now = next(&all.used);
    if (all.now != -1 && IS_TRACED)
        bytes_of(TIMES, &all, sizeof all);
    if (used)
        *used = all.used;
    return all.now;
}

/* ---- random numbers ---- */

EK_ENTRY ssize_t getrandom(void *numbers, size_t bytes, unsigned flags)
{
    EK_NEXT(getrandom);
    ssize_t got = next(numbers, bytes, flags);
    if (got > 0 && IS_TRACED)
        bytes_of(RANDOM, numbers, (size_t)got);
    return got;
}

EK_ENTRY int getentropy(void *numbers, size_t bytes)
{
    EK_NEXT(getentropy);
    int failed = next(numbers, bytes);
    if (!failed && IS_TRACED)
        bytes_of(RANDOM, numbers, bytes);
    return failed;
}

/* glibc has these from 2.36 on, and libbsd has them. */

EK_ENTRY void arc4random_buf(void *numbers, size_t bytes)
{
    EK_NEXT(arc4random_buf);
    next(numbers, bytes);
    if (IS_TRACED)
        bytes_of(RANDOM, numbers, bytes);
}

EK_ENTRY uint32_t arc4random(void)
{
    EK_NEXT(arc4random);
    uint32_t number = next();
    if (IS_TRACED)
        bytes_of(RANDOM, &number, sizeof number);
    return number;
}

EK_ENTRY uint32_t arc4random_uniform(uint32_t below)
{
    EK_NEXT(arc4random_uniform);
    uint32_t number = next(below);
    if (IS_TRACED)
        bytes_of(RANDOM, &number, sizeof number);
    return number;
}

/* What std::random_device calls, in libstdc++ and in libc++. It mostly asks the processor, which cannot be
 * seen. */

static void leave(const int *depth) { ek_trace_depth = *depth; }

/* It may ask the C library for random numbers, and throw. */
static unsigned ask(unsigned (*next)(void *), void *device)
{
    const int depth __attribute__((cleanup(leave))) = ek_trace_depth++;
    return next(device);
}

static unsigned of_random_device(unsigned number, const void *caller)
{
    if (is_traced(caller))
        bytes_of(RANDOM, &number, sizeof number);
    return number;
}

EK_ENTRY unsigned _ZNSt13random_device9_M_getvalEv(void *device)
{
    EK_NEXT(_ZNSt13random_device9_M_getvalEv);
    return of_random_device(ask(next, device), EK_CALLER);
}

EK_ENTRY unsigned _ZNSt3__113random_deviceclEv(void *device)
{
    EK_NEXT(_ZNSt3__113random_deviceclEv);
    return of_random_device(ask(next, device), EK_CALLER);
}
