/* Opens a job of one node by the primitives' library, and compares a variable there. */
#include <evenkeel_primitives.h>
#include <stdio.h>

int main(void)
{
    evenkeel_unconnected *alone;
    evenkeel_node *node;
    const uint32_t set[1] = {0};
    if (evenkeel_open(1, 4096, &alone) != EVENKEEL_YES) {
        fprintf(stderr, "evenkeel_open: %s\n", evenkeel_last_error());
        return 1;
    }
    size_t length;
    const void *address = evenkeel_address(alone, &length);
    if (evenkeel_connect(alone, 0, 1, &address, &length, 0, &node) != EVENKEEL_YES) {
        fprintf(stderr, "evenkeel_connect: %s\n", evenkeel_last_error());
        return 1;
    }
    evenkeel_set(node, 0, 7);
    int equal = evenkeel_compare_and_write(node, set, 1, 0, EVENKEEL_EQUAL, 7, NULL, NULL);
    int less = evenkeel_compare_and_write(node, set, 1, 0, EVENKEEL_LESS, 7, NULL, NULL);
    printf("primitives: %s\n", equal == EVENKEEL_YES && less == EVENKEEL_NO ? "right" : "wrong");
    evenkeel_close(node);
    return equal == EVENKEEL_YES && less == EVENKEEL_NO ? 0 : 1;
}
