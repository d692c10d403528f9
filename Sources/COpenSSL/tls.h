#pragma once
// TLS for HTTPServer: macros, and code that is shorter in C.

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdint.h>

// `exit` must not free OpenSSL under running threads; only has an effect before anything else calls OpenSSL.
static inline int spindle_tls_start(void) { return OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL); }

// Versions and modes of every connection. Without AUTO_RETRY a read ends after a record without data.
static inline int spindle_tls_configure(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    // One read of the socket for a record and what follows it, instead of two per record.
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_mode(context,
        SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// Reads, and also tells whether the socket was empty, which the result does not tell from a record without data.
static inline int spindle_tls_read(SSL *ssl, void *buffer, size_t size, size_t *count, int *drained) {
    errno = 0;
    int result = SSL_read_ex(ssl, buffer, size, count);
    *drained = errno == EAGAIN || errno == EWOULDBLOCK;
    return result;
}

// When the certificate ends, in seconds since 1970.
static inline int spindle_tls_certificate_end(SSL_CTX *context, int64_t *end) {
    int days = 0, seconds = 0;
    X509 *certificate = SSL_CTX_get0_certificate(context);
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int known = certificate != NULL && epoch != NULL
        && ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate)) == 1;
    ASN1_TIME_free(epoch);
    *end = (int64_t)days * 86400 + seconds;
    return known;
}

// A key of session tickets: 16 bytes of name, 32 for AES-256-CBC, 32 for HMAC-SHA-256 (RFC 5077 §4).
#define SPINDLE_TICKET_KEY_SIZE 80
static inline int spindle_ticket_key_make(unsigned char *key) { return RAND_bytes(key, SPINDLE_TICKET_KEY_SIZE); }
static inline int spindle_ticket_key_use(
    const unsigned char *key, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int sealing) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)(key + 48), 32),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    if (sealing && RAND_bytes(iv, 16) != 1) return 0;
    return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key + 16, iv, sealing) == 1
        && EVP_MAC_CTX_set_params(mac, parameters) == 1;
}
