/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace from inside. */
#ifndef LBI_TRACE_OBJECT_H
#define LBI_TRACE_OBJECT_H

#include "lbsched/lbsched.h"
#include "trace/meta.h"

struct lb_trace {
    uint32_t cores;
    uint32_t tasks; /* the highest number, and 1 */
    bool sealed;
    double unit_work;
    lbi_meta meta;
    lb_unit *units;
    lb_slice *slices;
    lb_mark *marks;
    size_t unit_count, slice_count, mark_count;
    size_t unit_capacity, slice_capacity, mark_capacity;
};

/* The keys of metadata that belong to the file format. */
#define LBI_KEY_TRACE "lbsched-trace"
#define LBI_KEY_CORES "cores"
#define LBI_KEY_UNIT_WORK "unit_work_s"
#define LBI_KEY_TABLE "table"

/* Marks' names, by lb_mark_kind. */
#define LBI_MARK_KINDS 6
extern const char *const lbi_mark_names[LBI_MARK_KINDS];

/* Appends a unit, slice or mark that has been checked, and unseals. False: no memory. */
bool lbi_trace_append_unit(lb_trace *trace, const lb_unit *unit);
bool lbi_trace_append_slice(lb_trace *trace, const lb_slice *slice);
bool lbi_trace_append_mark(lb_trace *trace, const lb_mark *mark);

typedef enum lbi_conflict_kind {
    LBI_CONFLICT_NONE,
    LBI_CONFLICT_UNITS,  /* two units of a task overlap */
    LBI_CONFLICT_SLICES, /* two slices of a task overlap */
    LBI_CONFLICT_NUMBERS /* two units of a task have one number */
} lbi_conflict_kind;

/* Two units, or slices, by their places; the former starts first. */
typedef struct lbi_conflict {
    lbi_conflict_kind kind;
    size_t former, latter;
} lbi_conflict;

/* Sorts, and looks for what may not be; seals where there is no conflict. `number_units`: units get
 * their numbers by counting in order. False: no memory. */
bool lbi_trace_order(lb_trace *trace, bool number_units, lbi_conflict *ret_conflict);

/* The conflict in words, its lines not named. */
void lbi_conflict_describe(const lb_trace *trace, const lbi_conflict *conflict, char *text,
                           size_t size);

/* The two file forms. */
void lbi_trace_write_csv(const lb_trace *trace, lbi_text *text);
lb_status lbi_trace_write_chrome(const lb_trace *trace, lbi_text *text, lb_error *err);

#endif
