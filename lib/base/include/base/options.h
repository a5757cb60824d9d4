/* SPDX-License-Identifier: BSD-3-Clause */
/* The two rules of options structs: `size` comes first, and a nonzero tail is refused. */
#ifndef LBI_BASE_OPTIONS_H
#define LBI_BASE_OPTIONS_H

#include <stddef.h>

#include "base/error.h"

/* Reads the caller's options (NULL: the defaults stand) over `known` bytes of defaults in
 * *ret_options. `first` is the struct's size in its first release; `name` is for the message. */
lb_status lbi_options_read(const void *options, void *ret_options, size_t first, size_t known,
                           const char *name, lb_error *err);

/* Writes `known` bytes of options (for the body of lb_..._options_init(), the defaults) to a caller
 * whose struct has `size` bytes: what does not fit is left out, what the caller has beyond is
 * zeroed, and the leading size field becomes `size`. */
void lbi_options_write(void *ret_options, size_t size, const void *options, size_t known);

#endif
