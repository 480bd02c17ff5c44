/* How fast TCP itself is between two hosts: latency and bandwidth. Uses libc only.
 *
 *   tcp serve PORT
 *   tcp pingpong HOST PORT BYTES ROUNDS      prints half a round trip in µs, the mean over the rounds
 *   tcp stream HOST PORT BYTES               prints the seconds until the other side has all bytes */
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

/* What the client asks the server for. */
typedef struct request {
    uint64_t bytes, rounds; /* 0 rounds: a stream */
} request;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Moves all bytes, which may take several calls. */
static void move_all(ssize_t (*move)(int, void *, size_t), int fd, uint64_t bytes)
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

static int without_delay(int fd)
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
        int fd = without_delay(accept(listening, NULL, NULL));
        request r;
        if (read(fd, &r, sizeof r) == sizeof r) {
            for (uint64_t i = 0; i < r.rounds; i++) {
                move_all(get, fd, r.bytes);
                move_all(put, fd, r.bytes);
            }
            if (!r.rounds) {
                move_all(get, fd, r.bytes);
                move_all(put, fd, 1);
            }
        }
        close(fd);
    }
}

static int connect_to(const char *host, const char *port)
{
    struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(host, port, &wanted, &found) != 0)
        die(host);
    int fd = without_delay(socket(AF_INET, SOCK_STREAM, 0));
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
    int fd = connect_to(argv[2], argv[3]);
    request r = {strtoull(argv[4], NULL, 10), argc > 5 ? strtoull(argv[5], NULL, 10) : 0};
    if (write(fd, &r, sizeof r) != sizeof r)
        die("write");
    uint64_t start = wall_ns();
    for (uint64_t i = 0; i < r.rounds; i++) {
        move_all(put, fd, r.bytes);
        move_all(get, fd, r.bytes);
    }
    if (!r.rounds) {
        move_all(put, fd, r.bytes);
        move_all(get, fd, 1);
    }
    double took = (double)(wall_ns() - start);
    if (r.rounds)
        printf("result {\"op\": \"tcp_pingpong\", \"bytes\": %lu, \"one_way_us\": %.3f}\n",
               (unsigned long)r.bytes, took / 2e3 / (double)r.rounds);
    else
        printf("result {\"op\": \"tcp_stream\", \"bytes\": %lu, \"seconds\": %.6f}\n", (unsigned long)r.bytes,
               took / 1e9);
    return 0;
}
