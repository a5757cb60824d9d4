/* SPDX-License-Identifier: BSD-3-Clause */
#include "import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "sched_line.h"
#include "trace/csv.h"
#include "trace/file.h"

#define FIRST_SIZE sizeof(lb_import_options)

static const lb_import_options defaults = {
    .size = sizeof(lb_import_options),
    .unit_work = NAN,
};

void lb_import_options_init(lb_import_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

static lb_status read_options(const lb_import_options *options, lb_import_options *ret,
                              lb_error *err) {
    *ret = defaults;
    lb_status status =
        lbi_options_read(options, ret, FIRST_SIZE, sizeof *ret, "lb_import_options", err);
    if (status != LB_OK)
        return status;
    if (ret->form < LB_IMPORT_AUTO || ret->form > LB_IMPORT_SCHED)
        return lbi_error(err, LB_ERR_INVALID, "form is %ld: expected an lb_import_form, 0 to %d",
                         (long)ret->form, LB_IMPORT_SCHED);
    if (!isnan(ret->unit_work) && !(ret->unit_work >= 1e-9 && ret->unit_work <= 1e6))
        return lbi_error(err, LB_ERR_INVALID,
                         "unit_work is %g s: expected 1e-9 to 1e6, or NAN (not known)",
                         ret->unit_work);
    if (ret->comm != NULL && ret->comm[0] == '\0')
        return lbi_error(err, LB_ERR_INVALID, "comm is \"\": expected a name, or NULL (all)");
    return LB_OK;
}

/* By the first line that tells. */
static lb_import_form form_of(const char *text, size_t length) {
    static const char first[] = "# lbsched-trace";
    lbi_csv lines;
    lbi_csv_begin(&lines, text, length);
    if ((size_t)(lines.end - lines.at) >= sizeof first - 1 &&
        memcmp(lines.at, first, sizeof first - 1) == 0)
        return LB_IMPORT_TRACE;
    while (lines.at < lines.end) {
        const char *begin, *end;
        lbi_csv_line(&lines, &begin, &end);
        lbi_sched_line line;
        if (lbi_sched_line_split(begin, end, &line))
            return LB_IMPORT_SCHED;
    }
    return LB_IMPORT_DURATIONS;
}

lb_status lb_trace_import_text(const char *text, size_t length, const lb_import_options *options,
                               lb_trace **ret_trace, lb_error *err) {
    lb_import_options o;
    lb_status status = read_options(options, &o, err);
    if (status != LB_OK)
        return status;
    if (length == 0)
        return lbi_error(err, LB_ERR_FORMAT, "line 1: expected a recording, the text is empty");
    if (o.form == LB_IMPORT_AUTO)
        o.form = form_of(text, length);
    switch (o.form) {
    case LB_IMPORT_TRACE:
        return lb_trace_parse(text, length, ret_trace, err);
    case LB_IMPORT_SCHED:
        return lbi_import_sched(text, length, &o, ret_trace, err);
    default:
        return lbi_import_durations(text, length, &o, ret_trace, err);
    }
}

lb_status lb_trace_import(const char *path, const lb_import_options *options, lb_trace **ret_trace,
                          lb_error *err) {
    char *text;
    size_t length;
    lb_status status = lbi_file_read(path, &text, &length, err);
    if (status != LB_OK)
        return status;
    status = lb_trace_import_text(text, length, options, ret_trace, err);
    free(text);
    return status;
}
