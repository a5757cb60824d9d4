/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces as text, in either form, to memory and to files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "object.h"
#include "trace/file.h"
#include "trace/fixed.h"

/* One row on its way: millions of them are written, so nothing but digits is done here. */
typedef struct csv_row {
    char text[192];
    size_t length;
} csv_row;

static void add_char(csv_row *row, char c) {
    row->text[row->length++] = c;
}

static void add_number(csv_row *row, uint64_t number) {
    char digits[LBI_SECONDS_SIZE];
    size_t length = lbi_format_fixed(false, number, 0, digits);
    memcpy(row->text + row->length, digits, length);
    row->length += length;
}

static void add_seconds(csv_row *row, int64_t ns) {
    row->length += lbi_format_seconds(ns, row->text + row->length);
}

static void add_core(csv_row *row, int32_t core) {
    if (core >= 0)
        add_number(row, (uint64_t)core);
}

static void write_units(const lb_trace *trace, lbi_text *text) {
    lbi_text_string(text, "task,unit,start_s,end_s,cpu_s,core_start,core_end\n");
    for (size_t i = 0; i < trace->unit_count; i++) {
        const lb_unit *unit = &trace->units[i];
        csv_row row = {.length = 0};
        add_number(&row, unit->task);
        add_char(&row, ',');
        add_number(&row, unit->index);
        add_char(&row, ',');
        add_seconds(&row, unit->start_ns);
        add_char(&row, ',');
        add_seconds(&row, unit->end_ns);
        add_char(&row, ',');
        if (unit->cpu_ns >= 0)
            add_seconds(&row, unit->cpu_ns);
        add_char(&row, ',');
        add_core(&row, unit->core_start);
        add_char(&row, ',');
        add_core(&row, unit->core_end);
        add_char(&row, '\n');
        lbi_text_append(text, row.text, row.length);
    }
}

static void write_slices(const lb_trace *trace, lbi_text *text) {
    lbi_text_string(text, "# " LBI_KEY_TABLE ": slices\ntask,start_s,end_s,core\n");
    for (size_t i = 0; i < trace->slice_count; i++) {
        const lb_slice *slice = &trace->slices[i];
        csv_row row = {.length = 0};
        add_number(&row, slice->task);
        add_char(&row, ',');
        add_seconds(&row, slice->start_ns);
        add_char(&row, ',');
        add_seconds(&row, slice->end_ns);
        add_char(&row, ',');
        add_core(&row, slice->core);
        add_char(&row, '\n');
        lbi_text_append(text, row.text, row.length);
    }
}

static void write_marks(const lb_trace *trace, lbi_text *text) {
    lbi_text_string(text, "# " LBI_KEY_TABLE ": marks\ntime_s,task,kind\n");
    for (size_t i = 0; i < trace->mark_count; i++) {
        const lb_mark *mark = &trace->marks[i];
        csv_row row = {.length = 0};
        add_seconds(&row, mark->time_ns);
        add_char(&row, ',');
        add_number(&row, mark->task);
        add_char(&row, ',');
        lbi_text_append(text, row.text, row.length);
        lbi_text_string(text, lbi_mark_names[mark->kind]);
        lbi_text_string(text, "\n");
    }
}

void lbi_trace_write_csv(const lb_trace *trace, lbi_text *text) {
    lbi_text_printf(text, "# " LBI_KEY_TRACE ": 1\n# " LBI_KEY_CORES ": %lu\n",
                    (unsigned long)trace->cores);
    if (!isnan(trace->unit_work)) {
        lbi_text_string(text, "# " LBI_KEY_UNIT_WORK ": ");
        lbi_text_number(text, trace->unit_work);
        lbi_text_string(text, "\n");
    }
    lbi_meta_write(&trace->meta, text);
    /* A file has one table at least. */
    if (trace->unit_count > 0 || trace->slice_count + trace->mark_count == 0)
        write_units(trace, text);
    if (trace->slice_count > 0)
        write_slices(trace, text);
    if (trace->mark_count > 0)
        write_marks(trace, text);
}

lb_status lb_trace_format(const lb_trace *trace, lb_trace_file file, char **ret_text,
                          size_t *ret_length, lb_error *err) {
    if (file != LB_TRACE_CSV && file != LB_TRACE_CHROME_JSON)
        return lbi_error(err, LB_ERR_INVALID, "file is %d: expected an lb_trace_file, 0 or 1",
                         (int)file);
    if (!trace->sealed)
        return lbi_error(err, LB_ERR_INVALID,
                         "the trace is not sealed: call lb_trace_seal() first");
    lbi_text text = {0};
    if (file == LB_TRACE_CSV) {
        lbi_trace_write_csv(trace, &text);
    } else {
        lb_status status = lbi_trace_write_chrome(trace, &text, err);
        if (status != LB_OK) {
            lbi_text_free(&text);
            return status;
        }
    }
    char *taken = lbi_text_take(&text, ret_length);
    if (taken == NULL)
        return lbi_error_nomem(err, "a trace as text");
    *ret_text = taken;
    return LB_OK;
}

lb_status lb_trace_save(const lb_trace *trace, const char *path, lb_trace_file file,
                        lb_error *err) {
    char *text;
    size_t length;
    lb_status status = lb_trace_format(trace, file, &text, &length, err);
    if (status != LB_OK)
        return status;
    status = lbi_file_write(path, text, length, err);
    free(text);
    return status;
}
