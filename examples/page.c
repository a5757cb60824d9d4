/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

struct page {
    FILE *body;
    char *text;
    size_t length;
    char folder[32], picture[48]; /* Of pictures on their way; "": they cannot be made. */
    bool in_list, incomplete;
};

static const char style[] =
    ":root{color-scheme:light dark;--text:#1b1b1b;--ground:#fff;--rule:#c8c8c8;--lead:#0072b2}"
    "@media(prefers-color-scheme:dark){:root{--text:#e8e8e8;--ground:#161616;--rule:#4a4a4a;"
    "--lead:#56b4e9}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--ground);"
    "max-width:60rem;margin:0 auto;padding:1rem}"
    "h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2rem;"
    "border-bottom:1px solid var(--rule)}"
    ".lead{font-size:1.25rem;font-weight:600;color:var(--lead)}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere}p,li{overflow-wrap:anywhere}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--rule);"
    "white-space:nowrap}th:first-child,td:first-child{text-align:left}"
    /* Pictures are drawn on white, and stay so in the dark. */
    "figure{margin:1rem 0;background:#fff;color:#1b1b1b;border:1px solid var(--rule);"
    "overflow-x:auto}"
    /* A narrow window shows a part of them rather than letters too small to read. */
    "figure img{display:block;width:100%;min-width:40rem;height:auto}figcaption{padding:.3rem "
    ".6rem}"
    "footer{margin-top:3rem;font-size:.85rem}";

static void escape(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity != NULL)
            fputs(entity, out);
        else
            fputc(*text, out);
    }
}

static void end_list(struct page *page) {
    if (page->in_list)
        fputs("</ul>\n", page->body);
    page->in_list = false;
}

static void element(struct page *page, const char *tag, const char *attributes, const char *text) {
    end_list(page);
    fprintf(page->body, "<%s%s>", tag, attributes);
    escape(page->body, text);
    fprintf(page->body, "</%s>\n", tag);
}

static void prepare_pictures(struct page *page) {
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        page_text(page, "Without pictures: gnuplot is not installed.");
        return;
    }
    strcpy(page->folder, "/tmp/lbsched-XXXXXX");
    if (mkdtemp(page->folder) != NULL)
        return;
    fail("no pictures: cannot make a folder in /tmp: %s", strerror(errno));
    page_text(page, "Without pictures: there was no folder to draw them in.");
    page->folder[0] = '\0';
    page->incomplete = true;
}

struct page *page_new(const char *title) {
    struct page *page = calloc(1, sizeof *page);
    if (page != NULL)
        page->body = open_memstream(&page->text, &page->length);
    if (page == NULL || page->body == NULL) {
        free(page);
        fail("no memory for a page");
        return NULL;
    }
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
          page->body);
    escape(page->body, title);
    fprintf(page->body, "</title>\n<style>%s</style>\n", style);
    element(page, "h1", "", title);
    prepare_pictures(page);
    return page;
}

void page_heading(struct page *page, const char *text) {
    element(page, "h2", "", text);
}

void page_text(struct page *page, const char *text) {
    element(page, "p", "", text);
}

void page_lead(struct page *page, const char *text) {
    element(page, "p", " class=\"lead\"", text);
}

void page_lines(struct page *page, const char *text) {
    element(page, "pre", "", text);
}

void page_item(struct page *page, const char *text) {
    if (!page->in_list)
        fputs("<ul>\n", page->body);
    page->in_list = true;
    fputs("<li>", page->body);
    escape(page->body, text);
    fputs("</li>\n", page->body);
}

/* ---- tables ---- */

static bool is_wanted(const char *name, const char *const *columns) {
    bool wanted = columns == NULL;
    for (; columns != NULL && *columns != NULL && !wanted; columns++)
        wanted = strcmp(*columns, name) == 0;
    return wanted;
}

static bool has_labels(const lb_table *table) {
    bool any = false;
    for (size_t row = 0; row < lb_table_rows(table) && !any; row++)
        any = lb_table_label(table, row)[0] != '\0';
    return any;
}

void page_table(struct page *page, const lb_table *table, const char *const *columns) {
    bool labels = has_labels(table);
    end_list(page);
    fputs("<div class=\"wide\"><table>\n<tr>", page->body);
    if (labels)
        fputs("<th></th>", page->body);
    for (size_t column = 0; column < lb_table_columns(table); column++)
        if (is_wanted(lb_table_name(table, column), columns))
            element(page, "th", "", lb_table_name(table, column));
    fputs("</tr>\n", page->body);
    for (size_t row = 0; row < lb_table_rows(table); row++) {
        fputs("<tr>", page->body);
        if (labels)
            element(page, "td", "", lb_table_label(table, row));
        for (size_t column = 0; column < lb_table_columns(table); column++) {
            double value = lb_table_value(table, row, column);
            if (is_wanted(lb_table_name(table, column), columns))
                fprintf(page->body,
                        isnan(value)                               ? "<td>-</td>"
                        : fabs(value) >= 1e5 && fabs(value) < 1e15 ? "<td>%.0f</td>"
                                                                   : "<td>%.5g</td>",
                        value);
        }
        fputs("</tr>\n", page->body);
    }
    fputs("</table></div>\n", page->body);
}

/* ---- pictures ---- */

const char *page_picture_path(struct page *page) {
    if (page->folder[0] == '\0')
        return NULL;
    snprintf(page->picture, sizeof page->picture, "%s/picture.svg", page->folder);
    return page->picture;
}

static void write_base64(FILE *out, const unsigned char *bytes, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned three = (unsigned)bytes[i] << 16 | (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? bytes[i + 2] : 0);
        fputc(digits[three >> 18], out);
        fputc(digits[three >> 12 & 63], out);
        fputc(i + 1 < n ? digits[three >> 6 & 63] : '=', out);
        fputc(i + 2 < n ? digits[three & 63] : '=', out);
    }
}

void page_picture(struct page *page, int status, const char *caption) {
    char *svg;
    size_t length;
    end_list(page);
    if (status != STATUS_OK || read_all(page->picture, &svg, &length) != STATUS_OK) {
        page->incomplete = true;
        page_text(page, "A picture is missing here, which could not be drawn:");
        page_text(page, caption);
        unlink(page->picture);
        return;
    }
    fputs("<figure><img alt=\"", page->body);
    escape(page->body, caption);
    fputs("\" src=\"data:image/svg+xml;base64,", page->body);
    write_base64(page->body, (const unsigned char *)svg, length);
    fputs("\"><figcaption>", page->body);
    escape(page->body, caption);
    fputs("</figcaption></figure>\n", page->body);
    free(svg);
    unlink(page->picture);
}

/* ---- the end ---- */

void page_free(struct page *page) {
    if (page == NULL)
        return;
    if (page->body != NULL)
        fclose(page->body);
    if (page->folder[0] != '\0') {
        unlink(page->picture);
        rmdir(page->folder);
    }
    free(page->text);
    free(page);
}

int page_save(struct page *page, const char *path) {
    end_list(page);
    fprintf(page->body, "<footer>Made by lbsched %s.</footer>\n</html>\n", lb_version());
    bool whole = fclose(page->body) == 0;
    page->body = NULL;
    int status = page->incomplete ? STATUS_ERROR : STATUS_OK;
    errno = 0;
    FILE *file = whole ? fopen(path, "w") : NULL;
    if (!whole) {
        status = fail("no memory for a page");
    } else if (file == NULL) {
        status = fail("cannot write %s: %s", path, strerror(errno));
    } else {
        whole = fwrite(page->text, 1, page->length, file) == page->length;
        if (fclose(file) != 0 || !whole)
            status = fail("cannot write %s: %s", path, strerror(errno));
    }
    page_free(page);
    return status;
}
