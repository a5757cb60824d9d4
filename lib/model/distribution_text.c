/* SPDX-License-Identifier: BSD-3-Clause */
/* The text form of a distribution: a head of four lines, then a line for each realisation with its
 * number, its weight, the durations and the makespan. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "distribution.h"

static const char magic[] = "lbsched-distribution 1";

lb_status lb_distribution_format(const lb_distribution *distribution, char **ret_text,
                                 lb_error *err) {
    lbi_text text = {0};
    lbi_text_printf(&text, "%s\nprocesses %zu\nproblem %llu\nexact %d\n", magic,
                    distribution->processes, (unsigned long long)distribution->problem,
                    distribution->exact);
    size_t width = lbi_distribution_width(distribution);
    for (size_t row = 0; row < distribution->rows; row++) {
        lbi_text_printf(&text, "%llu,", (unsigned long long)distribution->numbers[row]);
        lbi_text_number(&text, distribution->weights[row]);
        for (size_t i = 0; i < width; i++) {
            lbi_text_string(&text, ",");
            lbi_text_number(&text, distribution->values[row * width + i]);
        }
        lbi_text_string(&text, "\n");
    }
    char *taken = lbi_text_take(&text, NULL);
    if (taken == NULL)
        return lbi_error_nomem(err, "a distribution's text");
    *ret_text = taken;
    return LB_OK;
}

typedef struct reader {
    const char *at, *end; /* what is left of the text */
    const char *line, *line_end;
    size_t number;
} reader;

static bool next_line(reader *r) {
    r->number++; /* where the text ends it is that of the line that is missing */
    if (r->at == r->end)
        return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->line = r->at;
    r->line_end = newline == NULL ? r->end : newline;
    r->at = newline == NULL ? r->end : newline + 1;
    return true;
}

static lb_status malformed(const reader *r, const char *expected, lb_error *err) {
    return lbi_error(err, LB_ERR_FORMAT, "line %zu: %s expected", r->number, expected);
}

/* A line of that word and a number. */
static bool head(reader *r, const char *word, uint64_t max, uint64_t *ret_value) {
    size_t length = strlen(word);
    return next_line(r) && (size_t)(r->line_end - r->line) > length &&
           memcmp(r->line, word, length) == 0 &&
           lbi_parse_unsigned(r->line + length, r->line_end, max, ret_value);
}

/* The next field of the line at *at; behind the last *at is NULL. */
static bool field(const reader *r, const char **at, const char **ret_field, const char **ret_end) {
    if (*at == NULL)
        return false;
    const char *comma = memchr(*at, ',', (size_t)(r->line_end - *at));
    *ret_field = *at;
    *ret_end = comma == NULL ? r->line_end : comma;
    *at = comma == NULL ? NULL : comma + 1;
    return true;
}

static bool positive(const reader *r, const char **at, double *ret_value) {
    const char *from, *to;
    return field(r, at, &from, &to) && lbi_parse_number(from, to, ret_value) && *ret_value >= 0;
}

static lb_status read_row(const reader *r, lb_distribution *d, lb_error *err) {
    const char *at = r->line, *from, *to;
    size_t width = lbi_distribution_width(d), row = d->rows;
    if (!lbi_distribution_reserve(d, row + 1))
        return lbi_error_nomem(err, "a distribution");
    if (!field(r, &at, &from, &to) || !lbi_parse_unsigned(from, to, UINT64_MAX, &d->numbers[row]))
        return malformed(r, "the number of a realisation", err);
    if (row > 0 && d->numbers[row] <= d->numbers[row - 1])
        return malformed(r, "a number above the one before", err);
    if (!positive(r, &at, &d->weights[row]) || !(d->weights[row] > 0 && d->weights[row] <= 1) ||
        (!d->exact && d->weights[row] != 1))
        return malformed(r, d->exact ? "a probability" : "a weight of 1", err);
    for (size_t i = 0; i < width; i++)
        if (!positive(r, &at, &d->values[row * width + i]))
            return malformed(r, "a duration for each process, and the makespan,", err);
    if (at != NULL)
        return malformed(r, "nothing behind the makespan", err);
    d->rows++;
    return LB_OK;
}

lb_status lb_distribution_parse(const char *text, size_t length, lb_distribution **ret_distribution,
                                lb_error *err) {
    reader r = {.at = text, .end = text + length};
    uint64_t processes, problem, exact;
    if (!next_line(&r) || (size_t)(r.line_end - r.line) != strlen(magic) ||
        memcmp(r.line, magic, strlen(magic)) != 0)
        return malformed(&r, "\"lbsched-distribution 1\"", err);
    if (!head(&r, "processes ", UINT32_MAX, &processes))
        return malformed(&r, "\"processes\" and their number", err);
    if (!head(&r, "problem ", UINT64_MAX, &problem))
        return malformed(&r, "\"problem\" and a number", err);
    if (!head(&r, "exact ", 1, &exact))
        return malformed(&r, "\"exact\" and 0 or 1", err);
    /* A row needs two characters a value: no more memory than the text could fill is asked for. */
    if (processes > length / 2 + 1 && r.at != r.end)
        return malformed(&r, "fewer processes than a line has room for", err);
    lb_distribution *distribution = NULL;
    lb_status status = lbi_distribution_new((size_t)processes, &distribution, err);
    if (status != LB_OK)
        return status;
    distribution->problem = problem;
    distribution->exact = exact == 1;
    double sum = 0;
    while (status == LB_OK && next_line(&r)) {
        status = read_row(&r, distribution, err);
        if (status == LB_OK)
            sum += distribution->weights[distribution->rows - 1];
    }
    if (status == LB_OK && distribution->exact && !(fabs(sum - 1) < 1e-6))
        status = malformed(&r, "probabilities that sum to 1", err);
    if (status != LB_OK) {
        lb_distribution_free(distribution);
        return status;
    }
    *ret_distribution = distribution;
    return LB_OK;
}
