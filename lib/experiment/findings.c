/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/findings.h"

#include <stdlib.h>

#include "base/array.h"

bool lbi_findings_add(lbi_findings *findings, lb_finding_kind kind, lbi_text *text) {
    char *sentence = lbi_text_take(text, NULL);
    if (sentence == NULL)
        return false;
    if (!lbi_array_reserve(&findings->list, &findings->capacity, findings->count + 1,
                           sizeof *findings->list)) {
        free(sentence);
        return false;
    }
    findings->list[findings->count++] = (lbi_finding){kind, sentence};
    return true;
}

const char *lbi_findings_text(const lbi_findings *findings, lb_finding_kind kind) {
    for (size_t i = 0; i < findings->count; i++)
        if (findings->list[i].kind == kind)
            return findings->list[i].text;
    return NULL;
}

void lbi_findings_free(lbi_findings *findings) {
    for (size_t i = 0; i < findings->count; i++)
        free(findings->list[i].text);
    free(findings->list);
    *findings = (lbi_findings){0};
}
