/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints random samples with what lib/base/statistics.c makes of them, as R statements, each of
 * which stops R where it disagrees (statistics_r.sh). */
#include <stdio.h>

#include "base/random.h"
#include "base/statistics.h"

/* Rounded ones have ties and zeros. */
static void draw(lbi_random *random, double *values, size_t n, double shift, int rounded) {
    for (size_t i = 0; i < n; i++) {
        values[i] = lbi_random_exponential(random, 1) + shift;
        if (rounded)
            values[i] = (double)(int)(values[i] * 4) / 4;
    }
}

static void print_values(const char *name, const double *values, size_t n) {
    printf("%s <- c(", name);
    for (size_t i = 0; i < n; i++)
        printf("%s%.17g", i > 0 ? "," : "", values[i]);
    printf(")\n");
}

static void print_check(const char *what, const char *expression, double value) {
    printf("check(\"%s\", %s, %.17g)\n", what, expression, value);
}

static int check_shift(const double *a, size_t n, const double *b, size_t m) {
    static double differences[50 * 50];
    double low, high;
    bool possible;
    for (size_t i = 0; i < n * m; i++)
        differences[i] = a[i / m] - b[i % m];
    lbi_sort_doubles(differences, n * m);
    if (!lbi_shift_interval(differences, n, m, 0.95, &low, &high, &possible))
        return 0;
    if (possible) {
        print_check("shift, low", "wilcox.test(a, b, conf.int = TRUE)$conf.int[1]", low);
        print_check("shift, high", "wilcox.test(a, b, conf.int = TRUE)$conf.int[2]", high);
    }
    return 1;
}

int main(void) {
    printf("check <- function(what, r, ours) if (!isTRUE(abs(r - ours) <= 1e-6 * max(1, abs(r))))\n"
           "    stop(what, \": R says \", r, \", lbsched \", ours)\n");
    lbi_random random;
    lbi_random_seed(&random, 20261201);
    for (int round = 0; round < 300; round++) {
        double a[80], b[80], d[80], u, p, low;
        size_t n = 2 + lbi_random_below(&random, 70), m = 2 + lbi_random_below(&random, 70);
        int rounded = round % 3 == 0;
        draw(&random, a, n, 0, rounded);
        draw(&random, b, m, 0.3, rounded);
        draw(&random, d, n, -0.7, rounded);
        print_values("a", a, n);
        print_values("b", b, m);
        print_values("d", d, n);
        if (!lbi_rank_sum_test(a, n, b, m, &u, &p))
            return 1;
        print_check("U", "wilcox.test(a, b)$statistic", u);
        print_check("rank sum", "wilcox.test(a, b)$p.value", p);
        if (!lbi_signed_rank_test(d, n, &u, &p))
            return 1;
        print_check("V", "wilcox.test(d)$statistic", u);
        print_check("signed rank", "wilcox.test(d)$p.value", p);
        if (!rounded && n < 50 && m < 50 && !check_shift(a, n, b, m))
            return 1;
        lbi_sort_doubles(a, n);
        low = lbi_random_unit(&random);
        printf("q <- %.17g\n", low);
        print_check("quantile", "quantile(a, q, type = 7, names = FALSE)", lbi_quantile(a, n, low));
        print_check("sd", "sd(a)", lbi_stddev(a, n));
        double few[5], adjusted[5];
        for (int i = 0; i < 5; i++)
            few[i] = lbi_random_unit(&random) * (i < 2 ? 0.02 : 0.5);
        print_values("few", few, 5);
        if (!lbi_holm(few, 5, adjusted))
            return 1;
        for (int i = 0; i < 5; i++) {
            char expression[64];
            snprintf(expression, sizeof expression, "p.adjust(few, \"holm\")[%d]", i + 1);
            print_check("holm", expression, adjusted[i]);
        }
    }
    printf("cat(\"300 rounds agree\\n\")\n");
    return 0;
}
