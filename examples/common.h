/* SPDX-License-Identifier: BSD-3-Clause */
/* What the examples share and a program of your own would do in its own way: messages, numbers on
 * the command line, a progress bar, a plot. None of them calls setlocale(), so printf() and
 * strtod() use a decimal point. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lbsched/lbsched.h"

/* The exit statuses of the examples; 128 and the signal's number where one interrupted. */
enum {
    STATUS_OK = 0,
    STATUS_ERROR = 1,
    STATUS_USAGE = 2,
    STATUS_UNKNOWN = 3 /* The trace does not decide which policy it was. */
};

/* Says on stderr what went wrong; returns STATUS_ERROR. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says on stderr what is wrong with the command line; returns STATUS_USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the output; returns `status`, or STATUS_ERROR where stdout could not be written. */
int finish(int status);

/* A number from the command line. False: it is none, or outside [min, max]. */
bool parse_number(const char *text, double min, double max, double *ret_value);
bool parse_integer(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value);

/* All of a file, or of standard input for "-"; the caller frees it. Returns STATUS_OK or, after
 * saying why, STATUS_ERROR. */
int read_all(const char *path, char **ret_text, size_t *ret_length);

/* From now on SIGINT and SIGTERM make interrupted() return their number and show_progress() ask the
 * library to stop, which ends its workers and returns. */
void catch_interrupts(void);
int interrupted(void);
/* Says why a call of the library failed, or that it was interrupted; returns the exit status. */
int give_up(const lb_error *err);
/* An lb_progress_fn: draws a bar on stderr if that is a terminal. `title` is a string. */
int show_progress(void *title, double fraction);

/* "none", "lazy", "active", "immediate" or "unknown". */
const char *policy_name(lb_policy policy);

/* How JSON writes a string, a number (null where it has none), and a part that the library made. */
void print_json_string(const char *string);
void print_json_number(double value);
void print_json_part(const char *json);

/* A verdict, and the table of lb_trace_profile(), for people and as members of a JSON object.
 * Returns STATUS_OK or, after saying why, STATUS_ERROR. */
int print_verdict(const lb_verdict *verdict, const lb_table *profile);
int print_verdict_json(const lb_verdict *verdict, const lb_table *profile);

/* Whether a plot can go to a file of that name. */
bool is_plot_path(const char *path);
/* A gnuplot that draws to that file what it is told; NULL, after saying why. */
FILE *open_plot(const char *path);
/* The same with a picture of another height than 600 pixels. */
FILE *open_tall_plot(const char *path, int height);
/* Returns STATUS_OK or, after saying why, STATUS_ERROR. */
int close_plot(FILE *gnuplot, const char *path);

#endif
