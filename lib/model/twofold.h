/* SPDX-License-Identifier: BSD-3-Clause */
/* A number as the unevaluated sum of two doubles, so that a million additions lose nothing. */
#ifndef LBI_MODEL_TWOFOLD_H
#define LBI_MODEL_TWOFOLD_H

typedef struct lbi_twofold {
    double high, low; /* |low| is at most half a unit in the last place of high */
} lbi_twofold;

static inline lbi_twofold lbi_twofold_of(double value) {
    return (lbi_twofold){value, 0};
}

/* Knuth's exact sum of two doubles, then the low parts, then renormalised. */
static inline lbi_twofold lbi_twofold_plus(lbi_twofold a, double b) {
    double sum = a.high + b;
    double part = sum - a.high;
    double low = (a.high - (sum - part)) + (b - part) + a.low;
    double high = sum + low;
    return (lbi_twofold){high, low - (high - sum)};
}

/* a - b, rounded once where the two are close. */
static inline double lbi_twofold_minus(lbi_twofold a, lbi_twofold b) {
    return (a.high - b.high) + (a.low - b.low);
}

#endif
