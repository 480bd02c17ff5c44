/* An allocator of the program's own, to be linked with a program. Like many of them it asks for memory while
 * it holds its lock. If its own thread enters it again meanwhile, it ends the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER = 64, PAGE = 4096, CLASSES = 17, CHUNK = 1 << 20 };

/* In front of each block. */
struct header {
    size_t bytes; /* that the program may use */
    void *mapped; /* of a large block */
    size_t length;
    struct header *next; /* free block of the same class */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t holder;
static volatile int held;
static struct header *free_blocks[CLASSES]; /* of 1 << class bytes */
static char *chunk;
static size_t chunk_left;

static void take_lock(void)
{
    if (held && pthread_equal(holder, pthread_self())) {
        static const char text[] = "own_allocator: entered while it holds its lock\n";
        if (write(2, text, sizeof text - 1) < 0)
            _exit(5);
        _exit(4);
    }
    pthread_mutex_lock(&lock);
    holder = pthread_self();
    held = 1;
}

static void leave_lock(void)
{
    held = 0;
    pthread_mutex_unlock(&lock);
}

static void *map(size_t length)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void *place(char *mapped, size_t offset, size_t bytes, size_t length)
{
    struct header *h = (struct header *)(mapped + offset - HEADER);
    *h = (struct header){bytes, mapped, length, NULL};
    return mapped + offset;
}

static void *make_large(size_t alignment, size_t bytes)
{
    const size_t length = bytes + alignment + PAGE;
    char *mapped = map(length);
    if (!mapped)
        return NULL;
    const size_t offset =
        (((uintptr_t)mapped + HEADER + alignment - 1) & ~(alignment - 1)) - (uintptr_t)mapped;
    return place(mapped, offset, bytes, length);
}

static void *make_small(int class)
{
    const size_t whole = ((size_t)1 << class) + HEADER;
    struct header *h = free_blocks[class];
    if (h) {
        free_blocks[class] = h->next;
        return (char *)h + HEADER;
    }
    if (chunk_left < whole) {
        chunk = map(CHUNK);
        chunk_left = chunk ? CHUNK : 0;
    }
    if (!chunk)
        return NULL;
    chunk_left -= whole;
    chunk += whole;
    return place(chunk - whole, HEADER, (size_t)1 << class, 0);
}

static void *allocate(size_t alignment, size_t bytes)
{
    int class = 6;
    while (class < CLASSES && (size_t)1 << class < bytes)
        class++;
    take_lock();
    void *block = class == CLASSES || alignment > HEADER ? make_large(alignment, bytes) : make_small(class);
    leave_lock();
    if (!block)
        errno = ENOMEM;
    return block;
}

static struct header *header_of(void *block) { return (struct header *)((char *)block - HEADER); }

void *malloc(size_t bytes) { return allocate(HEADER, bytes); }
void *memalign(size_t alignment, size_t bytes) { return allocate(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return allocate(alignment, bytes); }
void *valloc(size_t bytes) { return allocate(PAGE, bytes); }

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    *block = allocate(alignment, bytes);
    return *block ? 0 : ENOMEM;
}

void free(void *block)
{
    int class = 6;
    if (!block)
        return;
    struct header *h = header_of(block);
    take_lock();
    if (h->length) {
        munmap(h->mapped, h->length);
    } else {
        while ((size_t)1 << class < h->bytes)
            class++;
        h->next = free_blocks[class];
        free_blocks[class] = h;
    }
    leave_lock();
}

void *calloc(size_t count, size_t bytes)
{
    void *block = bytes && count > SIZE_MAX / 2 / bytes ? NULL : allocate(HEADER, count * bytes);
    volatile char *at = block; /* not memset, which the compiler would make a call of calloc */
    if (block && !header_of(block)->length)
        for (size_t i = 0; i < count * bytes; i++)
            at[i] = 0;
    return block;
}

void *realloc(void *block, size_t bytes)
{
    if (!block)
        return allocate(HEADER, bytes);
    void *other = allocate(HEADER, bytes);
    const size_t before = header_of(block)->bytes;
    if (other) {
        memcpy(other, block, before < bytes ? before : bytes);
        free(block);
    }
    return other;
}
