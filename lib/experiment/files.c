/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* /proc/stat of 8,192 CPUs is 1 MB. */
#define LONGEST ((size_t)4 << 20)

LBI_PRINTF(2, 0)
static int open_file(const char *root, const char *format, va_list arguments) {
    char path[PATH_MAX];
    size_t length = strlen(root);
    if (length >= sizeof path)
        return -1;
    memcpy(path, root, length);
    int more = lbi_vsnprintf(path + length, sizeof path - length, format, arguments);
    if (more < 0 || (size_t)more >= sizeof path - length)
        return -1;
    /* Opening a pipe without a writer would wait. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat about;
    if (file >= 0 && (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(file);
        return -1;
    }
    return file;
}

/* Returns how much there was, up to `size`; -1: an error before anything was read. */
static ssize_t read_some(int file, char *buffer, size_t size) {
    ssize_t got;
    do
        got = read(file, buffer, size);
    while (got < 0 && errno == EINTR);
    return got;
}

bool lbi_read(const char *root, char **ret_text, const char *path, ...) {
    va_list arguments;
    va_start(arguments, path);
    bool ok = lbi_vread(root, ret_text, path, arguments);
    va_end(arguments);
    return ok;
}

bool lbi_vread(const char *root, char **ret_text, const char *path, va_list arguments) {
    int file = open_file(root, path, arguments);
    *ret_text = NULL;
    if (file < 0)
        return true;
    char *text = NULL;
    size_t length = 0, capacity = 0;
    ssize_t got = 0;
    do {
        length += (size_t)got;
        if (!lbi_array_reserve(&text, &capacity, length + 4096, 1)) {
            free(text);
            close(file);
            return false;
        }
        got = read_some(file, text + length, capacity - length - 1);
    } while (got > 0 && length < LONGEST);
    close(file);
    if (got < 0 && length == 0) {
        free(text);
        return true;
    }
    text[length] = '\0';
    *ret_text = text;
    return true;
}

bool lbi_read_into(const char *root, char *buffer, size_t size, const char *path, ...) {
    va_list arguments;
    va_start(arguments, path);
    int file = open_file(root, path, arguments);
    va_end(arguments);
    if (file < 0)
        return false;
    size_t length = 0;
    ssize_t got;
    while (length < size - 1 && (got = read_some(file, buffer + length, size - 1 - length)) > 0)
        length += (size_t)got;
    close(file);
    buffer[length] = '\0';
    return length > 0;
}

bool lbi_file_exists(const char *root, const char *path, ...) {
    va_list arguments;
    va_start(arguments, path);
    int file = open_file(root, path, arguments);
    va_end(arguments);
    if (file >= 0)
        close(file);
    return file >= 0;
}

bool lbi_next_line(const char **at, lbi_line *ret_line) {
    if (**at == '\0')
        return false;
    const char *end = strchr(*at, '\n');
    ret_line->begin = *at;
    ret_line->end = end == NULL ? *at + strlen(*at) : end;
    *at = end == NULL ? ret_line->end : end + 1;
    return true;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool lbi_next_word(lbi_line *line, lbi_line *ret_word) {
    while (line->begin < line->end && is_space(*line->begin))
        line->begin++;
    ret_word->begin = line->begin;
    while (line->begin < line->end && !is_space(*line->begin))
        line->begin++;
    ret_word->end = line->begin;
    return ret_word->begin < ret_word->end;
}

bool lbi_word_is(lbi_line word, const char *string) {
    size_t length = (size_t)(word.end - word.begin);
    return strlen(string) == length && memcmp(word.begin, string, length) == 0;
}

bool lbi_read_number(const char *root, uint64_t *ret_number, const char *path, ...) {
    char text[64];
    va_list arguments;
    va_start(arguments, path);
    int file = open_file(root, path, arguments);
    va_end(arguments);
    if (file < 0)
        return false;
    ssize_t got = read_some(file, text, sizeof text);
    close(file);
    lbi_line line = {text, text + (got < 0 ? 0 : got)}, word, rest;
    return lbi_next_word(&line, &word) && !lbi_next_word(&line, &rest) &&
           lbi_parse_unsigned(word.begin, word.end, UINT64_MAX, ret_number);
}

bool lbi_keyed_number(const char *text, const char *key, uint64_t *ret_number) {
    lbi_line line, word;
    while (lbi_next_line(&text, &line))
        if (lbi_next_word(&line, &word) && lbi_word_is(word, key))
            return lbi_next_word(&line, &word) &&
                   lbi_parse_unsigned(word.begin, word.end, UINT64_MAX, ret_number);
    return false;
}

void lbi_text_foreign(lbi_text *text, const char *string, size_t length) {
    enum {
        MOST = 64
    };
    char clean[MOST];
    size_t kept = length < MOST ? length : MOST;
    for (size_t i = 0; i < kept; i++)
        clean[i] = string[i] >= ' ' && string[i] <= '~' ? string[i] : '?';
    lbi_text_append(text, clean, kept);
}
