/* A client of a network file system that does not keep its pages in step with others', as strict as can be.
 *
 * Preloaded into a process, it keeps pages of files that the process opens for writing and whose names end in ".part" or
 * hold ".part." as its own: what is written goes into a page, which is first filled with what the file has there at that
 * time. Whole pages go back to the file when it is closed or synchronized, and not before. So whoever writes into a page
 * at the same time as another process loses, or makes it lose, its bytes: as between hosts that do not lock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 65536
#define FILES 4096

struct page { off_t start; char bytes[PAGE]; struct page *next; };
struct file { int open; off_t size; struct page *pages; };

static struct file files[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int (*next_close)(int);
static int (*next_fsync)(int);
static ssize_t (*next_pwrite)(int, const void *, size_t, off_t);

__attribute__((constructor)) static void start(void) {
    next_close = dlsym(RTLD_NEXT, "close");
    next_fsync = dlsym(RTLD_NEXT, "fsync");
    next_pwrite = dlsym(RTLD_NEXT, "pwrite64");
}

/* Whether a descriptor is that of an unfinished report, looked at when it is first written to. */
static struct file *known(int fd) {
    char link[64], path[PATH_MAX];
    struct stat info;
    if (fd < 0 || fd >= FILES) return NULL;
    if (files[fd].open) return files[fd].open > 0 ? &files[fd] : NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    files[fd].open = strstr(path, ".part") && fstat(fd, &info) == 0 ? 1 : -1;
    if (files[fd].open < 0) return NULL;
    files[fd].size = info.st_size;
    return &files[fd];
}

static struct page *page_at(struct file *file, int fd, off_t start) {
    for (struct page *page = file->pages; page; page = page->next)
        if (page->start == start) return page;
    struct page *page = calloc(1, sizeof *page);
    page->start = start;
    page->next = file->pages;
    file->pages = page;
    /* The descriptor may be for writing only. */
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int reading = open(link, O_RDONLY);
    if (reading >= 0) {
        if (pread(reading, page->bytes, PAGE, start) < 0) abort();
        next_close(reading);
    }
    return page;
}

/* Whole pages, up to where this process knows the file to end. */
static void write_back(int fd, struct file *file) {
    while (file->pages) {
        struct page *page = file->pages;
        off_t length = file->size - page->start;
        if (length > PAGE) length = PAGE;
        if (length > 0 && next_pwrite(fd, page->bytes, length, page->start) != length) abort();
        file->pages = page->next;
        free(page);
    }
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
    pthread_mutex_lock(&lock);
    struct file *file = known(fd);
    if (!file) {
        pthread_mutex_unlock(&lock);
        return next_pwrite(fd, bytes, count, offset);
    }
    for (size_t done = 0; done < count;) {
        off_t at = offset + done, start = at / PAGE * PAGE;
        size_t length = start + PAGE - at;
        if (length > count - done) length = count - done;
        memcpy(page_at(file, fd, start)->bytes + (at - start), (const char *)bytes + done, length);
        done += length;
    }
    if (file->size < (off_t)(offset + count)) file->size = offset + count;
    pthread_mutex_unlock(&lock);
    return count;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return pwrite64(fd, bytes, count, offset);
}

int fsync(int fd) {
    pthread_mutex_lock(&lock);
    struct file *file = known(fd);
    if (file) write_back(fd, file);
    pthread_mutex_unlock(&lock);
    return next_fsync(fd);
}

int close(int fd) {
    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < FILES) {
        if (files[fd].open > 0) write_back(fd, &files[fd]);
        files[fd].open = 0;
    }
    pthread_mutex_unlock(&lock);
    return next_close(fd);
}
