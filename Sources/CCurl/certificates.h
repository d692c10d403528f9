#pragma once
#include <curl/curl.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

// OpenSSL decodes the keys of all certificates that a server shows before it verifies any, in one call without a time
// limit. A key on a custom curve takes a third of a second, and hundreds fit into a message, on the thread that all
// requests share. So a list is refused undecoded if it is long, or has a key on a curve that no authority signs for.

// glibc declares it with _GNU_SOURCE, which must not be defined here; undeclared it would be taken to return an int.
void *memmem(const void *text, size_t count, const void *part, size_t length);

enum { spindle_longest_certificates = 16 * 1024 };

// Whether each `id-ecPublicKey` in the certificates, whose length may be written in several ways, is followed by the
// name of P-256, P-384 or P-521 (RFC 5480 §2.1.1), and no key contains an explicit curve, which would say which kind of
// field it is over (`id-fieldType`, ANSI X9.62).
static inline int spindle_has_known_curves(const void *certificates, size_t count) {
    static const unsigned char key[] = {0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01};
    static const unsigned char p256[] = {0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07};
    static const unsigned char p384[] = {0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22};
    static const unsigned char p521[] = {0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23};
    static const unsigned char field[] = {0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x01};
    const unsigned char *next = certificates, *end = next + count;
    if (memmem(next, count, field, sizeof field)) return 0;
    while ((next = memmem(next, end - next, key, sizeof key))) {
        next += sizeof key;
        size_t rest = end - next;
        if (!(rest >= sizeof p256 && !memcmp(next, p256, sizeof p256)) &&
            !(rest >= sizeof p384 && !memcmp(next, p384, sizeof p384)) &&
            !(rest >= sizeof p521 && !memcmp(next, p521, sizeof p521)))
            return 0;
    }
    return 1;
}

// Sees each message of the handshake before it is read (SSL_set_msg_callback(3)). It cannot refuse one, so it corrupts
// the lengths before the certificates, and reading them fails at once.
static inline void spindle_see_message(int is_sent, int version, int type, const void *message, size_t count, SSL *ssl,
                                       void *data) {
    (void)version, (void)ssl, (void)data;
    enum { header = 4 };
    enum { compressed_certificate = 25 };
    if (is_sent || type != SSL3_RT_HANDSHAKE || count <= header) return;
    char kind = *(const char *)message;
    int is_readable = kind == SSL3_MT_CERTIFICATE && count <= spindle_longest_certificates;
    if (kind != SSL3_MT_CERTIFICATE && kind != compressed_certificate) return;
    if (is_readable && spindle_has_known_curves(message, count)) return;
    size_t lengths = count - header < 8 ? count - header : 8;
    memset((unsigned char *)message + header, 0xFF, lengths);
}

static inline CURLcode spindle_prepare_tls(CURL *curl, void *context, void *data) {
    (void)curl, (void)data;
    SSL_CTX_set_max_cert_list(context, spindle_longest_certificates);
    SSL_CTX_set_msg_callback(context, spindle_see_message);
    // Compressed certificates are not read, so they are not requested (RFC 8879). The option is from OpenSSL 3.2; the
    // headers here may be older than the library.
    SSL_CTX_set_options(context, (uint64_t)1 << 33);
    return CURLE_OK;
}

// Makes libcurl trust only the authorities in its one file, if it has one: with a folder beside it, it would read both
// for each connection, without caching.
static inline CURLcode spindle_curl_believe_one_file(CURL *curl) {
    char *file = NULL;
    curl_easy_getinfo(curl, CURLINFO_CAINFO, &file);
    return file && access(file, R_OK) == 0 ? curl_easy_setopt(curl, CURLOPT_CAPATH, NULL) : CURLE_OK;
}

// As above, for the authorities in `file`, and no others.
static inline CURLcode spindle_curl_believe(CURL *curl, const char *file) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_CAINFO, file);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_CAPATH, NULL) : code;
}

static inline CURLcode spindle_curl_guard_certificates(CURL *curl) {
    return curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, spindle_prepare_tls);
}
