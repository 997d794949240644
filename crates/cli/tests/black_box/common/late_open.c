/* A process that opens a file late: when LATE_DIR/go exists, after it has made LATE_DIR/waiting.
 * The file is the first one whose path ends with LATE_FILE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*opener)(const char *, int, ...);

static void wait_for(const char *path) {
    const char *file = getenv("LATE_FILE"), *dir = getenv("LATE_DIR");
    char waiting[4096], go[4096];
    size_t length = strlen(path);
    if (!file || !dir || length < strlen(file) || strcmp(path + length - strlen(file), file))
        return;
    snprintf(waiting, sizeof waiting, "%s/waiting", dir);
    snprintf(go, sizeof go, "%s/go", dir);
    int made = creat(waiting, 0600);
    if (made >= 0)
        close(made);
    while (access(go, F_OK))
        usleep(1000);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    wait_for(path);
    return ((opener)dlsym(RTLD_NEXT, "open64"))(path, flags, mode);
}
