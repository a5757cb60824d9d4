/* SPDX-License-Identifier: BSD-3-Clause */
/* A report to share: one HTML file that holds all it needs, pictures too. */
#ifndef EXAMPLES_PAGE_H
#define EXAMPLES_PAGE_H

#include "lbsched/lbsched.h"

/* A page in the making. Its functions take what may be no valid HTML, and escape it. */
struct page;

/* NULL, after saying why. */
struct page *page_new(const char *title);
void page_heading(struct page *page, const char *text);
/* A paragraph; one that says the main thing; and text whose lines are kept. */
void page_text(struct page *page, const char *text);
void page_lead(struct page *page, const char *text);
void page_lines(struct page *page, const char *text);
/* One of a list of sentences, which ends with the next thing of another kind. */
void page_item(struct page *page, const char *text);
/* All columns, or those named: a list that ends with NULL. */
void page_table(struct page *page, const lb_table *table, const char *const *columns);
/* A name to draw a picture to; NULL: none can be made, as the page says. */
const char *page_picture_path(struct page *page);
/* What was drawn there; or, if `status` is that of a picture that failed, a word in its place. */
void page_picture(struct page *page, int status, const char *caption);
/* Writes the page and frees it. Returns STATUS_OK or, after saying why, STATUS_ERROR: also of a
 * page that was written, but lacks a picture that failed. One without gnuplot is whole. */
int page_save(struct page *page, const char *path);
/* Frees a page that is not wanted; NULL: does nothing. */
void page_free(struct page *page);

#endif
