#include "wrappers/buffered_send.h"

bool ek_buffered_sends_are_made;
