/* What TCP alone does between two hosts: a round trip of some bytes, and a stream. Uses libc alone.
 *
 *   tcp serve PORT
 *   tcp pingpong HOST PORT BYTES ROUNDS      half a round trip, µs: mean
 *   tcp stream HOST PORT BYTES               until the other side has all, seconds */
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

enum { MOST = 1 << 20 };
static char buffer[MOST];

typedef struct order {
    uint64_t bytes, rounds; /* rounds 0: a stream */
} order;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void all(ssize_t (*move)(int, void *, size_t), int fd, uint64_t bytes)
{
    while (bytes) {
        ssize_t done = move(fd, buffer, bytes < MOST ? bytes : MOST);
        if (done <= 0)
            die("connection");
        bytes -= (uint64_t)done;
    }
}

static ssize_t get(int fd, void *at, size_t bytes) { return read(fd, at, bytes); }
static ssize_t put(int fd, void *at, size_t bytes) { return write(fd, at, bytes); }

static int quick(int fd)
{
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static void serve(uint16_t port)
{
    int yes = 1, listening = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = INADDR_ANY};
    if (bind(listening, (struct sockaddr *)&at, sizeof at) != 0 || listen(listening, 4) != 0)
        die("port");
    puts("ready");
    fflush(stdout);
    for (;;) {
        int fd = quick(accept(listening, NULL, NULL));
        order o;
        if (read(fd, &o, sizeof o) == sizeof o) {
            for (uint64_t i = 0; i < o.rounds; i++) {
                all(get, fd, o.bytes);
                all(put, fd, o.bytes);
            }
            if (!o.rounds) {
                all(get, fd, o.bytes);
                all(put, fd, 1);
            }
        }
        close(fd);
    }
}

static int call(const char *host, const char *port)
{
    struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(host, port, &wanted, &found) != 0)
        die(host);
    int fd = quick(socket(AF_INET, SOCK_STREAM, 0));
    if (connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        die("connect");
    return fd;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        serve((uint16_t)atoi(argv[2]));
    if (argc < 5)
        return 2;
    int fd = call(argv[2], argv[3]);
    order o = {strtoull(argv[4], NULL, 10), argc > 5 ? strtoull(argv[5], NULL, 10) : 0};
    if (write(fd, &o, sizeof o) != sizeof o)
        die("write");
    uint64_t start = wall_ns();
    for (uint64_t i = 0; i < o.rounds; i++) {
        all(put, fd, o.bytes);
        all(get, fd, o.bytes);
    }
    if (!o.rounds) {
        all(put, fd, o.bytes);
        all(get, fd, 1);
    }
    double took = (double)(wall_ns() - start);
    if (o.rounds)
        printf("result {\"op\": \"tcp_pingpong\", \"bytes\": %lu, \"one_way_us\": %.3f}\n",
               (unsigned long)o.bytes, took / 2e3 / (double)o.rounds);
    else
        printf("result {\"op\": \"tcp_stream\", \"bytes\": %lu, \"seconds\": %.6f}\n", (unsigned long)o.bytes,
               took / 1e9);
    return 0;
}
