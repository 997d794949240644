/* Fails to close files whose names end as CLOSE_ERROR says, as a network file system does that
   cannot store what was written. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int close(int fd) {
    static int (*real_close)(int);
    char link[64], path[4096];
    const char *end = getenv("CLOSE_ERROR");
    if (!real_close) real_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    int closed = real_close(fd);
    if (end && length >= (ssize_t)strlen(end) &&
        !memcmp(path + length - strlen(end), end, strlen(end))) {
        errno = EDQUOT;
        return -1;
    }
    return closed;
}
