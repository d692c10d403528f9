#pragma once
#include <argon2.h>
#include <malloc.h>

static inline void spindle_return_freed_memory(void) { malloc_trim(0); }
