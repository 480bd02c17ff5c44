/* The library's own handles, by name, for checks. */
#ifndef EK_TRACE_CONSTANTS_H
#define EK_TRACE_CONSTANTS_H

void ek_note_constants(void);

#endif
