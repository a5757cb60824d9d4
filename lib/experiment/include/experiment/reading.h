/* SPDX-License-Identifier: BSD-3-Clause */
/* When it is and on which core: what a worker reads after every chunk of work. In ticks, which the
 * controller converts to lbi_now() afterwards. */
#ifndef LBI_EXPERIMENT_READING_H
#define LBI_EXPERIMENT_READING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lbi_reading {
    int64_t ticks;
    int32_t cpu; /* the system's number */
} lbi_reading;

/* One instruction tells both on x86-64, where the system's clock counts the same register: Linux
 * keeps the CPU's number in the lower 12 bits of what comes with it. */
#define LBI_TSC_CPU_MASK 0xfffu

/* AS; by lbi_now() and lbi_cpu(): ticks are nanoseconds. */
lbi_reading lbi_read_clock(void);

/* Whether lbi_read() may use the register on a host with such CPU numbers. */
bool lbi_tsc_usable(uint32_t last_cpu);

/* AS */
static inline lbi_reading lbi_read(bool tsc) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (tsc) {
        unsigned aux;
        uint64_t ticks = __builtin_ia32_rdtscp(&aux);
        return (lbi_reading){(int64_t)ticks, (int32_t)(aux & LBI_TSC_CPU_MASK)};
    }
#endif
    (void)tsc;
    return lbi_read_clock();
}

/* Both clocks at one moment. */
typedef struct lbi_instant {
    int64_t ticks, ns;
} lbi_instant;

lbi_instant lbi_instant_now(bool tsc);

/* Ticks as nanoseconds of lbi_now(), by the two instants that the run lies between. */
int64_t lbi_ticks_to_ns(int64_t ticks, lbi_instant before, lbi_instant after);

#endif
