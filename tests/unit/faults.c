/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands between the library's objects and the allocator, by the linker's --wrap. */
#include <stdatomic.h>
#include <string.h>

#include "harness.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

/* Counted down to the failure; 0: not armed, or fired. */
static atomic_size_t countdown;
static atomic_bool fired;
static atomic_long live;

void faults_arm(size_t n) {
    fired = false;
    countdown = n;
}

bool faults_fired(void) {
    countdown = 0;
    return fired;
}

long faults_live(void) {
    return live;
}

static bool fails_now(void) {
    size_t left = countdown;
    while (left > 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1)) {
    }
    if (left != 1)
        return false;
    fired = true;
    return true;
}

static void *counted(void *memory) {
    if (memory != NULL)
        live++;
    return memory;
}

void *__wrap_malloc(size_t size) {
    return fails_now() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails_now() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails_now() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *memory, size_t size) {
    if (fails_now())
        return NULL;
    void *moved = __real_realloc(memory, size);
    return memory == NULL ? counted(moved) : moved;
}

void __wrap_free(void *memory) {
    if (memory != NULL)
        live--;
    __real_free(memory);
}
