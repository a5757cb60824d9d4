/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/options.h"

#include <string.h>

lb_status lbi_options_read(const void *options, void *ret_options, size_t first, size_t known,
                           const char *name, lb_error *err) {
    if (options == NULL)
        return LB_OK;
    size_t size;
    memcpy(&size, options, sizeof size);
    if (size < first)
        return lbi_error(err, LB_ERR_INVALID,
                         "%s.size is %zu: at least %zu expected; call %s_init() first", name, size,
                         first, name);
    const unsigned char *bytes = options;
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return lbi_error(err, LB_ERR_INVALID,
                             "%s has a nonzero byte at offset %zu: this library knows %zu bytes",
                             name, i, known);
    memcpy(ret_options, options, size < known ? size : known);
    return LB_OK;
}

void lbi_options_write(void *ret_options, size_t size, const void *options, size_t known) {
    memcpy(ret_options, options, size < known ? size : known);
    /* What a newer program knows and this library does not is 0, which asks for nothing. */
    if (size > known)
        memset((char *)ret_options + known, 0, size - known);
    if (size >= sizeof size)
        memcpy(ret_options, &size, sizeof size);
}
