#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# statistics_r.sh PROGRAM: statistics against R's, on random samples.
if ! command -v Rscript >/dev/null; then
    echo "skipped: no Rscript (Debian: r-base-core)"
    exit 77
fi
script=$(mktemp) || exit 1
trap 'rm -f "$script"' EXIT
"$1" >"$script" || exit 1
Rscript --vanilla "$script" 2>/dev/null | grep -q "300 rounds agree" && exit 0
Rscript --vanilla "$script" 2>&1 | grep -v "cannot compute exact" | tail -5
exit 1
