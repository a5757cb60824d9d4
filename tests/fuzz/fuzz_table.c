/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever bytes are given as a table: they are refused with a line and a reason, or the table that
 * they make is written and read back the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lbsched/lbsched.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lb_table *table = NULL, *back = NULL;
    lb_error err = {0};
    char *texts[3], *again;
    lb_status status = lb_table_parse((const char *)data, size, &table, &err);
    if (status != LB_OK) {
        CHECK(status == LB_ERR_FORMAT && table == NULL);
        CHECK(strncmp(err.message, "line ", 5) == 0 && strstr(err.message, "expected") != NULL);
        return 0;
    }
    for (int i = 0; i < 3; i++)
        CHECK(lb_table_format(table, (lb_format)i, &texts[i], &err) == LB_OK);
    const char *csv = texts[LB_FORMAT_CSV];
    CHECK(lb_table_parse(csv, strlen(csv), &back, &err) == LB_OK);
    CHECK(lb_table_rows(table) == lb_table_rows(back));
    CHECK(lb_table_columns(table) == lb_table_columns(back));
    CHECK(lb_table_format(back, LB_FORMAT_CSV, &again, &err) == LB_OK);
    CHECK(strcmp(csv, again) == 0);
    lb_free(again);
    for (int i = 0; i < 3; i++)
        lb_free(texts[i]);
    lb_table_free(back);
    lb_table_free(table);
    return 0;
}
