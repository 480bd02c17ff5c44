/* Channels through files: their sizes, times, modes, names, attributes and locks. */
#ifndef ATTACK_CHANNELS_FILES_H
#define ATTACK_CHANNELS_FILES_H
#include "channel.h"
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>

static int file[MAX_RANKS];   /* one of each rank */
static int marked[MAX_RANKS]; /* another, whose times and mode are the counters */
static int zeros;             /* a file of zeros, to copy from */

static bool file_make(void)
{
    file[me] = open(path_of("file", me), O_RDWR | O_CREAT | O_TRUNC, 0600);
    zeros = open(path_of("zeros", me), O_RDWR | O_CREAT | O_TRUNC, 0600);
    marked[me] = open(path_of("marked", me), O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(!futimens(marked[me], (struct timespec[2]){{0, UTIME_OMIT}, {0, 0}}) && !fchmod(marked[me], 0),
         "setting the time and mode of a file");
    must(file[me] >= 0 && zeros >= 0 && !ftruncate(zeros, 4096), "a file in the directory");
    return true;
}

static bool file_open(void)
{
    for (int r = 0; r < ranks; r++) {
        if (r == me)
            continue;
        file[r] = open(path_of("file", r), O_RDONLY);
        marked[r] = open(path_of("marked", r), O_RDONLY);
        must(file[r] >= 0 && marked[r] >= 0, "the files of another rank");
    }
    return true;
}

static long size_seen(int rank, unsigned variant)
{
    struct stat s;
    struct statx x;
    switch (variant % 5) {
    case 0: CALL2(variant, fstat, file[rank], &s); return s.st_size;
    case 1: return CALL3(variant, lseek, file[rank], 0, SEEK_END);
    case 2: CALL6(variant, statx, file[rank], "", AT_EMPTY_PATH, STATX_SIZE, &x, 0); return (long)x.stx_size;
    case 3: must(!stat(path_of("file", rank), &s), "stat"); return s.st_size;
    default: CALL4(variant, newfstatat, file[rank], "", &s, AT_EMPTY_PATH); return s.st_size;
    }
}

static void size_act(unsigned count, unsigned variant)
{
    static char byte;
    struct iovec one = {&byte, 1};
    off_t from = 0, to = (off_t)count - 1;
    switch (variant % 9) {
    case 0: CALL4(variant, pwrite64, file[me], &byte, 1, to); break;
    case 1: CALL6(variant, pwritev, file[me], &one, 1, to, 0, 0); break;
    case 2: CALL2(variant, ftruncate, file[me], count); break;
    case 3: CALL4(variant, fallocate, file[me], 0, 0, count); break;
    case 4: CALL6(variant, copy_file_range, zeros, &from, file[me], &to, 1, 0); break;
    case 5: lseek(file[me], to, SEEK_SET), CALL3(variant, write, file[me], &byte, 1); break;
    case 6: lseek(file[me], to, SEEK_SET), CALL3(variant, writev, file[me], &one, 1); break;
    case 7: lseek(file[me], to, SEEK_SET), CALL4(variant, sendfile, file[me], zeros, &from, 1); break;
    default: CALL2(variant, truncate, path_of("file", me), count); break;
    }
}

static void time_act(unsigned count, unsigned variant)
{
    struct timespec times[2] = {{0, UTIME_OMIT}, {(time_t)count, 0}};
    struct timeval old[2] = {{0, 0}, {(time_t)count, 0}};
    if (variant % 3 == 0)
        CALL4(variant, utimensat, marked[me], 0, times, 0);
    else if (variant % 3 == 1)
        CALL2(variant, utimes, path_of("marked", me), old);
    else
        must(!futimens(marked[me], times), "futimens");
}

static long time_seen(int rank, unsigned variant)
{
    struct stat s;
    CALL2(variant, fstat, marked[rank], &s);
    return s.st_mtim.tv_sec;
}

static void mode_act(unsigned count, unsigned variant)
{
    unsigned mode = count % 512;
    if (variant & 1)
        CALL2(variant, fchmod, marked[me], mode);
    else
        CALL2(variant, chmod, path_of("marked", me), mode);
}

static long mode_seen(int rank, unsigned variant)
{
    struct stat s;
    CALL2(variant, fstat, marked[rank], &s);
    return s.st_mode & 0777;
}

static void name_act(unsigned count, unsigned variant)
{
    const char *name = path_of("name", me);
    if (!(count & 1)) { /* remove it, whatever it is */
        if (CALL2(variant, unlink, name, 0))
            must(!rmdir(name), "removing a name");
        return;
    }
    switch (variant % 5) {
    case 0: CALL2(variant, mkdir, name, 0700); break;
    case 1: CALL2(variant, symlink, directory, name); break;
    case 2: CALL3(variant, mknodat, AT_FDCWD, name, S_IFIFO | 0600); break;
    case 3: close((int)CALL4(0, openat, AT_FDCWD, name, O_CREAT | O_WRONLY, 0600)); break;
    default: {
        char target[512];
        strcpy(target, name);
        must(!link(path_of("file", me), target), "link");
    }
    }
}

static long name_seen(int rank, unsigned variant)
{
    struct stat s;
    const char *name = path_of("name", rank);
    switch (variant % 3) {
    case 0: return !faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW);
    case 1: return !CALL2(variant, lstat, name, &s);
    default: return !rename(name, name);
    }
}

static bool attribute_make(void)
{
    return !fsetxattr(file[me], "user.attack", "0", 1, 0) ||
           !fsetxattr(file[me], "trusted.attack", "0", 1, 0);
}

static const char *attribute(void)
{
    static const char *name;
    char text[16];
    if (!name)
        name = fgetxattr(file[me], "user.attack", text, sizeof text) >= 0 ? "user.attack" : "trusted.attack";
    return name;
}

static void attribute_act(unsigned count, unsigned variant)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%u", count);
    CALL6(variant, fsetxattr, file[me], attribute(), text, length, 0, 0);
}

static long attribute_seen(int rank, unsigned variant)
{
    char text[16] = "";
    CALL4(variant, fgetxattr, file[rank], attribute(), text, sizeof text - 1);
    return atol(text);
}

static void lock_act(unsigned count, unsigned variant)
{
    struct flock whole = {
        .l_type = count & 1 ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET, .l_start = 1 << 20, .l_len = 1};
    CALL3(variant, fcntl, file[me], F_SETLK, &whole);
}

static long lock_seen(int rank, unsigned variant)
{
    struct flock asked = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 1 << 20, .l_len = 1};
    CALL3(variant, fcntl, file[rank], F_GETLK, &asked);
    return asked.l_type != F_UNLCK;
}

#endif
