#pragma once
#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call: one function for each kind of value.
static inline CURLcode spindle_curl_set_text(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode spindle_curl_set_number(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode spindle_curl_set_list(CURL *curl, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode spindle_curl_set_reader(CURL *curl, curl_read_callback reader, void *data) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_READFUNCTION, reader);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_READDATA, data) : code;
}
static inline CURLcode spindle_curl_set_progress(CURL *curl, curl_xferinfo_callback progress, void *data) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_XFERINFODATA, data) : code;
}
static inline long spindle_curl_response_code(CURL *curl) {
    long code = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    return code;
}
static inline curl_socket_t spindle_curl_socket(CURL *curl) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &socket);
    return socket;
}
static inline CURLcode spindle_curl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
