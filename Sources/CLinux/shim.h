#pragma once
// What Linux has and the Glibc module lacks. Prototypes are declared here because _GNU_SOURCE must not be defined.
// Every function returns -errno for a failure: errno itself may be another thread's by the time Swift reads it.

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int accept4(int, struct sockaddr *, socklen_t *, int);
int pthread_setname_np(pthread_t, const char *);

static inline int linux_checked(int result) { return result < 0 ? -errno : result; }

// Time

static inline int64_t linux_monotonic_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline int64_t linux_unix_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Threads and signals

static inline void linux_name_this_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
static inline uint64_t linux_this_thread(void) { return (uint64_t)pthread_self(); }
static inline void linux_ignore_broken_pipes(void) { signal(SIGPIPE, SIG_IGN); }

// Limits, processors and the environment

/// Raises the limit of open files to this process's hard limit, and returns it.
static inline int64_t linux_raise_open_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
    struct rlimit raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    return limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}

/// From now on a crash of this process, and of those it starts, leaves no core.
static inline void linux_leave_no_core(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
}

long syscall(long, ...);

/// How many processors the calling thread may run on.
static inline int linux_processors(void) {
    unsigned long mask[128] = {0};
    long size = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int count = 0;
    for (long i = 0; i < size / (long)sizeof mask[0]; i++) count += __builtin_popcountl(mask[i]);
    return count > 0 ? count : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static inline char **linux_environment(void) {
    extern char **environ;
    return environ;
}

static inline void linux_forget_variable(const char *name) { unsetenv(name); }

// epoll: 256 events a turn at most

struct linux_event {
    uint64_t data;
    uint32_t events;
};

static const uint32_t linux_readable = EPOLLIN;
/// Edges of both directions and of the peer's end, for a connection that is registered once.
static const uint32_t linux_edges = EPOLLIN | EPOLLOUT | EPOLLRDHUP | (uint32_t)EPOLLET;
static const uint32_t linux_readable_edge = EPOLLIN | (uint32_t)EPOLLET;

static inline int linux_epoll_create(void) { return linux_checked(epoll_create1(EPOLL_CLOEXEC)); }

static inline int linux_epoll_add(int poll, int descriptor, uint32_t events, uint64_t data) {
    struct epoll_event event = {.events = events, .data = {.u64 = data}};
    return linux_checked(epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event));
}

static inline int linux_epoll_remove(int poll, int descriptor) {
    struct epoll_event event = {0};
    return linux_checked(epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, &event));
}

static inline int linux_epoll_wait(int poll, struct linux_event *found, int count, int milliseconds) {
    struct epoll_event events[256];
    int seen = epoll_wait(poll, events, count < 256 ? count : 256, milliseconds);
    if (seen < 0) return -errno;
    for (int i = 0; i < seen; i++) {
        found[i].data = events[i].data.u64;
        found[i].events = events[i].events;
    }
    return seen;
}

static inline int linux_eventfd(void) { return linux_checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

static inline void linux_eventfd_signal(int descriptor) {
    uint64_t one = 1;
    ssize_t written = write(descriptor, &one, sizeof one);
    (void)written;
}

// Sockets

/// -errno, or -(LINUX_UNRESOLVED) when the name has no address.
static const int linux_unresolved = 100000;

static inline int linux_listen_at(const struct addrinfo *address, int backlog) {
    int descriptor = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    int one = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(descriptor, address->ai_addr, address->ai_addrlen) < 0 || listen(descriptor, backlog) < 0) {
        int fault = -errno;
        close(descriptor);
        return fault;
    }
    return descriptor;
}

static inline int linux_port(int descriptor) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) < 0) return -errno;
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

/// Listens at the first address of `host` that this machine has. Non-blocking, closed on exec.
static inline int linux_listen(const char *host, int port, int backlog) {
    struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, NULL, &wanted, &found) != 0 || found == NULL) return -linux_unresolved;
    int result = -EADDRNOTAVAIL;
    for (struct addrinfo *each = found; each != NULL; each = each->ai_next) {
        if (each->ai_family == AF_INET6) ((struct sockaddr_in6 *)each->ai_addr)->sin6_port = htons((uint16_t)port);
        else if (each->ai_family == AF_INET) ((struct sockaddr_in *)each->ai_addr)->sin_port = htons((uint16_t)port);
        else continue;
        result = linux_listen_at(each, backlog);
        if (result != -EADDRNOTAVAIL && result != -EAFNOSUPPORT) break;
    }
    freeaddrinfo(found);
    return result;
}

/// Accepts a connection from the queue, non-blocking; writes its peer's address as text, an IPv4 one unwrapped.
static inline int linux_accept(int listener, char *text, size_t capacity) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    text[0] = 0;
    int descriptor = accept4(listener, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return -errno;
    if (address.ss_family == AF_INET) {
        inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, text, (socklen_t)capacity);
    } else if (address.ss_family == AF_INET6) {
        const struct in6_addr *six = &((struct sockaddr_in6 *)&address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(six)) inet_ntop(AF_INET, &six->s6_addr[12], text, (socklen_t)capacity);
        else inet_ntop(AF_INET6, six, text, (socklen_t)capacity);
    }
    return descriptor;
}

static inline ssize_t linux_receive(int descriptor, void *bytes, size_t count) {
    ssize_t received = recv(descriptor, bytes, count, 0);
    return received < 0 ? -errno : received;
}

static inline ssize_t linux_send(int descriptor, const void *bytes, size_t count) {
    ssize_t sent = send(descriptor, bytes, count, MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
}

static inline void linux_end_sending(int descriptor) { shutdown(descriptor, SHUT_WR); }
static inline void linux_close(int descriptor) { close(descriptor); }

static inline int linux_is_ipv6_address(const char *text) {
    struct in6_addr address;
    return inet_pton(AF_INET6, text, &address) == 1;
}
