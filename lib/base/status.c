/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "lbsched/lbsched.h"

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

const char *lb_version(void) {
    return STRING(LB_VERSION_MAJOR) "." STRING(LB_VERSION_MINOR) "." STRING(LB_VERSION_PATCH);
}

const char *lb_status_name(lb_status status) {
    switch (status) {
    case LB_OK:
        return "LB_OK";
    case LB_ERR_INVALID:
        return "LB_ERR_INVALID";
    case LB_ERR_NOMEM:
        return "LB_ERR_NOMEM";
    case LB_ERR_SYSTEM:
        return "LB_ERR_SYSTEM";
    case LB_ERR_PERMISSION:
        return "LB_ERR_PERMISSION";
    case LB_ERR_UNSUPPORTED:
        return "LB_ERR_UNSUPPORTED";
    case LB_ERR_FORMAT:
        return "LB_ERR_FORMAT";
    case LB_ERR_IO:
        return "LB_ERR_IO";
    case LB_ERR_LIMIT:
        return "LB_ERR_LIMIT";
    case LB_ERR_CANCELLED:
        return "LB_ERR_CANCELLED";
    case LB_ERR_TIMEOUT:
        return "LB_ERR_TIMEOUT";
    case LB_ERR_WORKER:
        return "LB_ERR_WORKER";
    }
    return "unknown status";
}

void lb_free(void *memory) {
    free(memory);
}
