#pragma once
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>

// Macros and variadic functions that Swift cannot call.
static inline int spindle_gcm_set_tag(EVP_CIPHER_CTX *context, int length, void *tag) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, length, tag);
}
static inline int spindle_gcm_get_tag(EVP_CIPHER_CTX *context, int length, void *tag) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, length, tag);
}
static inline EVP_PKEY *spindle_generate_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *spindle_generate_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }
static inline EVP_PKEY *spindle_generate_ec(const char *curve) { return EVP_EC_gen(curve); }
