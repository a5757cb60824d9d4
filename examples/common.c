/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- messages ---- */

static void say(const char *format, va_list arguments) {
    fflush(stdout);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return STATUS_ERROR;
}

int usage_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try '%s --help'.\n", program_invocation_short_name);
    return STATUS_USAGE;
}

int finish(int status) {
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail("cannot write the output: %s", errno != 0 ? strerror(errno) : "write error");
    return status;
}

/* ---- numbers ---- */

bool parse_number(const char *text, double min, double max, double *ret_value) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= min && value <= max))
        return false;
    *ret_value = value;
    return true;
}

bool parse_integer(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    /* strtoull() takes a sign and makes a large number of it. */
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value < min || value > max)
        return false;
    *ret_value = value;
    return true;
}

/* ---- input ---- */

static char *read_stream(FILE *file, size_t *ret_length) {
    char *text = NULL;
    size_t length = 0, capacity = 0, n;
    do {
        if (length == capacity) {
            capacity = capacity == 0 ? 65536 : 2 * capacity;
            char *larger = realloc(text, capacity);
            if (larger == NULL)
                goto fail;
            text = larger;
        }
        n = fread(text + length, 1, capacity - length, file);
        length += n;
    } while (n > 0);
    if (ferror(file))
        goto fail;
    *ret_length = length;
    return text;
fail:
    free(text);
    return NULL;
}

int read_all(const char *path, char **ret_text, size_t *ret_length) {
    bool standard = strcmp(path, "-") == 0;
    errno = 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    char *text = file != NULL ? read_stream(file, ret_length) : NULL;
    int status = STATUS_OK;
    if (text == NULL)
        status = fail("cannot read %s: %s", standard ? "standard input" : path, strerror(errno));
    else
        *ret_text = text;
    if (file != NULL && !standard)
        fclose(file);
    return status;
}

/* ---- interrupts and progress ---- */

static volatile sig_atomic_t interrupt_signal;

static void note_interrupt(int signal_number) {
    interrupt_signal = signal_number;
}

void catch_interrupts(void) {
    struct sigaction action = {.sa_handler = note_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int interrupted(void) {
    return interrupt_signal;
}

int give_up(const lb_error *err) {
    int status = fail("%s", interrupted() != 0 ? "interrupted" : err->message);
    return interrupted() != 0 ? 128 + interrupted() : status;
}

int show_progress(void *title, double fraction) {
    enum {
        WIDTH = 40
    };
    if (isatty(STDERR_FILENO)) {
        int filled = (int)(fraction * WIDTH + 0.5);
        fprintf(stderr, "\r%s [%.*s%*s] %3.0f %%", (const char *)title, filled,
                "########################################", WIDTH - filled, "", 100 * fraction);
        if (fraction >= 1 || interrupted() != 0)
            fprintf(stderr, "\r\033[K");
    }
    return interrupted();
}

/* ---- verdicts ---- */

const char *policy_name(lb_policy policy) {
    switch (policy) {
    case LB_POLICY_NONE:
        return "none";
    case LB_POLICY_LAZY:
        return "lazy";
    case LB_POLICY_ACTIVE:
        return "active";
    case LB_POLICY_IMMEDIATE:
        return "immediate";
    case LB_POLICY_UNKNOWN:
        break;
    }
    return "unknown";
}

void print_json_string(const char *string) {
    putchar('"');
    for (; *string != '\0'; string++) {
        if (*string == '"' || *string == '\\')
            printf("\\%c", *string);
        else if ((unsigned char)*string < 0x20)
            printf("\\u%04x", *string);
        else
            putchar(*string);
    }
    putchar('"');
}

void print_json_number(double value) {
    if (isfinite(value))
        printf("%.9g", value);
    else
        printf("null");
}

void print_json_part(const char *json) {
    int length = (int)strlen(json);
    while (length > 0 && json[length - 1] == '\n')
        length--;
    printf("%.*s", length, json);
}

/* A number of `width` with its unit, or "-" where there is none. */
static void print_cell(int width, double value, const char *unit) {
    if (isfinite(value))
        printf(" %*.2f %s", width, value, unit);
    else
        printf(" %*s", width + 1 + (int)strlen(unit), "-");
}

int print_verdict(const lb_verdict *verdict, const lb_table *profile) {
    lb_error err;
    char *text;
    if (lb_verdict_format(verdict, LB_FORMAT_TEXT, &text, &err) != LB_OK)
        return fail("%s", err.message);
    printf("%s", text);
    lb_free(text);
    if (lb_table_rows(profile) == 0)
        return STATUS_OK;
    printf("\nduration of a unit of work against the number of running tasks\n"
           "%8s %10s %12s %10s %8s %9s\n",
           "running", "mean", "deviation", "model", "differs", "units");
    for (size_t row = 0; row < lb_table_rows(profile); row++) {
        double mean = lb_table_get(profile, row, "mean_s");
        double model = lb_table_get(profile, row, "model_s");
        printf("%8.0f", lb_table_get(profile, row, "concurrency"));
        print_cell(7, 1e3 * mean, "ms");
        print_cell(9, 1e3 * lb_table_get(profile, row, "stddev_s"), "ms");
        print_cell(7, 1e3 * model, "ms");
        if (isfinite(model) && mean > 0)
            printf(" %+6.1f %%", 100 * (model - mean) / mean);
        else
            printf(" %8s", "-");
        printf(" %9.0f\n", lb_table_get(profile, row, "units"));
    }
    return STATUS_OK;
}

int print_verdict_json(const lb_verdict *verdict, const lb_table *profile) {
    lb_error err;
    char *text;
    if (lb_verdict_format(verdict, LB_FORMAT_JSON, &text, &err) != LB_OK)
        return fail("%s", err.message);
    printf("\"verdict\": ");
    print_json_part(text);
    lb_free(text);
    if (lb_table_format(profile, LB_FORMAT_JSON, &text, &err) != LB_OK)
        return fail("%s", err.message);
    printf(", \"profile\": ");
    print_json_part(text);
    lb_free(text);
    return STATUS_OK;
}

/* ---- plots ---- */

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

bool is_plot_path(const char *path) {
    return (ends_with(path, ".svg") || ends_with(path, ".png")) && strchr(path, '\n') == NULL;
}

static void write_head(FILE *gnuplot, const char *path, int height) {
    fprintf(gnuplot, "set terminal %s size 1000,%d background rgb 'white'\n",
            ends_with(path, ".svg") ? "svg" : "pngcairo", height);
    fprintf(gnuplot, "set output '");
    for (const char *c = path; *c != '\0'; c++) {
        if (*c == '\'')
            fputc('\'', gnuplot);
        fputc(*c, gnuplot);
    }
    fprintf(gnuplot, "'\n");
}

/* Gnuplot does not tell when a disk is full. So: is the end of the picture there? True also of what
 * cannot be read back, such as a pipe. */
static bool is_whole(const char *path) {
    char tail[15];
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return errno == EACCES;
    if (lseek(file, -(off_t)sizeof tail, SEEK_END) < 0) {
        bool pipe = errno == ESPIPE;
        close(file);
        return pipe;
    }
    ssize_t n = read(file, tail, sizeof tail);
    close(file);
    const char *end = ends_with(path, ".svg") ? "</svg>" : "IEND";
    return n == 0 || (n > 0 && memmem(tail, (size_t)n, end, strlen(end)) != NULL);
}

FILE *open_plot(const char *path) {
    return open_tall_plot(path, 600);
}

FILE *open_tall_plot(const char *path, int height) {
    /* A gnuplot that is not there or gave up must not end us with SIGPIPE. Where it cannot open the
     * file it draws on its standard output. */
    signal(SIGPIPE, SIG_IGN);
    fflush(stdout);
    FILE *gnuplot = popen("exec gnuplot -d >/dev/null", "w");
    if (gnuplot == NULL)
        fail("cannot start gnuplot: %s", strerror(errno));
    else
        write_head(gnuplot, path, height);
    return gnuplot;
}

int close_plot(FILE *gnuplot, const char *path) {
    int status = pclose(gnuplot);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail("cannot plot to %s: gnuplot is not installed", path);
    if (status != 0)
        return fail("cannot plot to %s: gnuplot failed", path);
    if (!is_whole(path))
        return fail("cannot plot to %s: gnuplot could not write all of it", path);
    return STATUS_OK;
}
