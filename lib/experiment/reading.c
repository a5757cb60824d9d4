/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/reading.h"

#include <stdio.h>
#include <string.h>

#include "experiment/system.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

lbi_reading lbi_read_clock(void) {
    int cpu, after = lbi_cpu();
    lbi_reading reading;
    /* Moved in between, the time would be that of another core. */
    do {
        cpu = after;
        reading = (lbi_reading){lbi_now(), cpu};
        after = lbi_cpu();
    } while (after != cpu);
    return reading;
}

#if defined(__x86_64__) && defined(__GNUC__)
/* What the kernel trusts to count evenly, and alike on all cores. */
static bool clock_is_tsc(void) {
    char name[16] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (file == NULL)
        return false;
    bool read = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    return read && strcmp(name, "tsc\n") == 0;
}

static bool has_rdtscp(void) {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) != 0 && (d & 1u << 27) != 0;
}

static bool tells_cpu(void) {
    for (int i = 0; i < 10; i++) {
        int before = lbi_cpu(), told = lbi_read(true).cpu;
        if (lbi_cpu() == before)
            return told == before;
    }
    return false;
}

bool lbi_tsc_usable(uint32_t last_cpu) {
    return last_cpu <= LBI_TSC_CPU_MASK && has_rdtscp() && clock_is_tsc() && tells_cpu();
}
#else
bool lbi_tsc_usable(uint32_t last_cpu) {
    (void)last_cpu;
    return false;
}
#endif

lbi_instant lbi_instant_now(bool tsc) {
    lbi_instant best = {0};
    int64_t least = INT64_MAX;
    /* The closest of some: interrupted between the two, they would be apart. */
    for (int i = 0; i < 10; i++) {
        int64_t before = lbi_read(tsc).ticks, ns = lbi_now(), after = lbi_read(tsc).ticks;
        if (after - before < least) {
            least = after - before;
            best = (lbi_instant){before + (after - before) / 2, ns};
        }
    }
    return best;
}

int64_t lbi_ticks_to_ns(int64_t ticks, lbi_instant before, lbi_instant after) {
    if (after.ticks <= before.ticks)
        return before.ns;
    /* A double holds a run of a hundred days to the nanosecond. */
    double rate = (double)(after.ns - before.ns) / (double)(after.ticks - before.ticks);
    double ns = (double)(ticks - before.ticks) * rate;
    return before.ns + (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}
