#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot call: one function for each
// kind of value.
static inline CURLcode spindle_curl_set_text(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode spindle_curl_set_number(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode spindle_curl_set_list(CURL *curl, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode spindle_curl_set_url(CURL *curl, CURLU *url) {
    return curl_easy_setopt(curl, CURLOPT_CURLU, url);
}
// The bytes are copied. Without a pointer libcurl would read standard input.
static inline CURLcode spindle_curl_set_body(CURL *curl, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, count ? bytes : "") : code;
}
static inline CURLcode spindle_curl_set_reader(CURL *curl, curl_read_callback reader, void *data) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_READFUNCTION, reader);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_READDATA, data) : code;
}
static inline CURLcode spindle_curl_set_body_writer(CURL *curl, curl_write_callback writer, void *data) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, writer);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_WRITEDATA, data) : code;
}
static inline CURLcode spindle_curl_set_head_writer(CURL *curl, curl_write_callback writer, void *data) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, writer);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_HEADERDATA, data) : code;
}
static inline CURLcode spindle_curl_set_words(CURL *curl, char *words) {
    return curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
}
static inline CURLcode spindle_curl_set_progress(CURL *curl, curl_xferinfo_callback progress, void *data) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_XFERINFODATA, data) : code;
}
static inline CURLcode spindle_curl_set_opener(CURL *curl, curl_opensocket_callback opener, void *data) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, opener);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, data) : code;
}

static inline int spindle_curl_no_resolver(void *state, void *reserved, void *data) {
    (void)state, (void)reserved, (void)data;
    return 1;
}
// Looks up no name that CURLOPT_RESOLVE does not contain.
static inline CURLcode spindle_curl_never_resolve(CURL *curl) {
    return curl_easy_setopt(curl, CURLOPT_RESOLVER_START_FUNCTION, spindle_curl_no_resolver);
}

// The address is longer than the field that holds it, so it must be read in place.
static inline const struct sockaddr *spindle_curl_address(const struct curl_sockaddr *address) {
    return &address->addr;
}

static inline long spindle_curl_number(CURL *curl, CURLINFO info) {
    long number = 0;
    curl_easy_getinfo(curl, info, &number);
    return number;
}
static inline curl_off_t spindle_curl_microseconds(CURL *curl, CURLINFO info) {
    curl_off_t time = 0;
    curl_easy_getinfo(curl, info, &time);
    return time;
}
static inline curl_socket_t spindle_curl_socket(CURL *curl) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &socket);
    return socket;
}

static inline CURLMcode spindle_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLcode spindle_curl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

// How many bytes a socket's connection has delivered, including all framing; -1 when unknown. libcurl counts only
// bodies. glibc declares only the first half of Linux's tcp_info: tcpi_bytes_received is at offset 128.
static inline int64_t spindle_socket_received(int socket) {
    enum { tcp_info = 11, bytes_received = 128 };
    unsigned char info[bytes_received + sizeof(uint64_t)];
    socklen_t length = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, tcp_info, info, &length) != 0 || length < sizeof info) return -1;
    int64_t received;
    memcpy(&received, info + bytes_received, sizeof received);
    return received;
}
