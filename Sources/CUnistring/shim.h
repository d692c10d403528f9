#pragma once
// First, because unistring redefines the integer types in headers included after it.
#include <stdint.h>
#include <stdlib.h>

#include <unicase.h>
#include <uninorm.h>
#include <unistr.h>

// The form is a constant of an incomplete type, which Swift cannot name.
static inline uint8_t *spindle_nfkd(const uint8_t *text, size_t length, uint8_t *buffer, size_t *result) {
    return u8_normalize(UNINORM_NFKD, text, length, buffer, result);
}
static inline uint8_t *spindle_nfc(const uint8_t *text, size_t length, uint8_t *buffer, size_t *result) {
    return u8_normalize(UNINORM_NFC, text, length, buffer, result);
}
