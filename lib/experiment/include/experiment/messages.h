/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_EXPERIMENT_MESSAGES_H
#define LBI_EXPERIMENT_MESSAGES_H

/* Of a group, beside the room. */
enum {
    LBI_MEMBERS = 4
};

#endif
