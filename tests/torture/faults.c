// Faults on demand, for LD_PRELOAD: counts the calls that change what is on the disk below one folder, and at the n-th fails it or kills
// the process. Python arms it through ctypes, so that one warm process can fork a child for each point.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum kind {
    COUNT,  // nothing happens
    EIO_ONCE,  // this call fails, later ones work
    FULL,      // from this call on nothing can be written
    KILL,      // killed before the call
    TORN,      // killed behind the call; of a write only half is done
};

static _Atomic long seen;
static long armed_at;
static enum kind armed_kind;
static char below[PATH_MAX];
static size_t below_size;

void faults_arm(long at, int kind, const char *folder) {
    seen = 0;
    armed_at = at;
    armed_kind = (enum kind)kind;
    snprintf(below, sizeof below, "%s", folder);
    below_size = strlen(below);
}

long faults_seen(void) { return seen; }

static int is_below(const char *path) {
    return below_size && path && strncmp(path, below, below_size) == 0 && (path[below_size] == '/' || path[below_size] == '\0');
}

static int fd_is_below(int fd) {
    if (!below_size || fd < 0) return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = '\0';
    return is_below(path);
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

enum verdict { GO_ON, FAIL, HALF };

// What is to become of a call that counts. `takes_space`: whether it needs room on the disk.
static enum verdict next(int takes_space) {
    const long number = ++seen;
    if (armed_kind == COUNT || armed_at == 0) return GO_ON;
    if (armed_kind == FULL && number >= armed_at && takes_space) return errno = ENOSPC, FAIL;
    if (number != armed_at) return GO_ON;
    if (armed_kind == EIO_ONCE) return errno = EIO, FAIL;
    if (armed_kind == KILL) die();
    return armed_kind == TORN ? HALF : GO_ON;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define GUARD(counts, takes_space, failed, call)               \
    do {                                                       \
        const enum verdict verdict = (counts) ? next(takes_space) : GO_ON; \
        if (verdict == FAIL) return failed;                    \
        __typeof__(call) result = call;                        \
        if (verdict == HALF) die();                            \
        return result;                                         \
    } while (0)

ssize_t write(int fd, const void *data, size_t size) {
    const enum verdict verdict = fd_is_below(fd) ? next(1) : GO_ON;
    if (verdict == FAIL) return -1;
    const ssize_t result = REAL(write)(fd, data, verdict == HALF ? size / 2 : size);
    if (verdict == HALF) die();
    return result;
}

static ssize_t guarded_pwrite(int fd, const void *data, size_t size, off_t place) {
    const enum verdict verdict = fd_is_below(fd) ? next(1) : GO_ON;
    if (verdict == FAIL) return -1;
    const ssize_t result = REAL(pwrite64)(fd, data, verdict == HALF ? size / 2 : size, place);
    if (verdict == HALF) die();
    return result;
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t place) { return guarded_pwrite(fd, data, size, place); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) { return guarded_pwrite(fd, data, size, place); }

size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
    const enum verdict verdict = fd_is_below(fileno(file)) ? next(1) : GO_ON;
    if (verdict == FAIL) return 0;
    const size_t result = REAL(fwrite)(data, size, verdict == HALF ? count / 2 : count, file);
    if (verdict == HALF) {
        fflush(file);
        die();
    }
    return result;
}

int fsync(int fd) { GUARD(fd_is_below(fd), 1, -1, REAL(fsync)(fd)); }
int fdatasync(int fd) { GUARD(fd_is_below(fd), 1, -1, REAL(fdatasync)(fd)); }
int ftruncate(int fd, off_t size) { GUARD(fd_is_below(fd), size > 0, -1, REAL(ftruncate)(fd, size)); }
int ftruncate64(int fd, off64_t size) { GUARD(fd_is_below(fd), size > 0, -1, REAL(ftruncate64)(fd, size)); }
int posix_fallocate(int fd, off_t place, off_t size) { GUARD(fd_is_below(fd), 1, errno, REAL(posix_fallocate)(fd, place, size)); }
int rename(const char *from, const char *to) { GUARD(is_below(to), 1, -1, REAL(rename)(from, to)); }
int unlink(const char *path) { GUARD(is_below(path), 0, -1, REAL(unlink)(path)); }
int rmdir(const char *path) { GUARD(is_below(path), 0, -1, REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) { GUARD(is_below(path), 1, -1, REAL(mkdir)(path, mode)); }

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t place) {
    GUARD(fd_is_below(fd), 0, MAP_FAILED, REAL(mmap)(address, size, protection, flags, fd, place));
}
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t place) {
    GUARD(fd_is_below(fd), 0, MAP_FAILED, REAL(mmap64)(address, size, protection, flags, fd, place));
}

#define MODE(flags, last)                                         \
    mode_t mode = 0;                                              \
    if ((flags) & O_CREAT) {                                      \
        va_list rest;                                             \
        va_start(rest, last);                                     \
        mode = (mode_t)va_arg(rest, int);                         \
        va_end(rest);                                             \
    }

// A file that is there needs no room to be opened again.
static int makes_one(const char *path, int flags) { return (flags & O_CREAT) && access(path, F_OK) != 0; }

int open(const char *path, int flags, ...) {
    MODE(flags, flags)
    GUARD((flags & O_CREAT) && is_below(path), makes_one(path, flags), -1, REAL(open)(path, flags, mode));
}
int open64(const char *path, int flags, ...) {
    MODE(flags, flags)
    GUARD((flags & O_CREAT) && is_below(path), makes_one(path, flags), -1, REAL(open64)(path, flags, mode));
}
int openat(int folder, const char *path, int flags, ...) {
    MODE(flags, flags)
    GUARD((flags & O_CREAT) && is_below(path), makes_one(path, flags), -1, REAL(openat)(folder, path, flags, mode));
}
