#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The public symbols are one list, kept in three places: the header declares it, the version script
# names it, the library exports it. And the static archive defines no global name but lb_ and lbi_.
# usage: exports.sh COMPILER HEADER MAP SHARED STATIC
set -eu
compiler=$1 header=$2 map=$3 shared=$4 static=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Preprocessing drops the comments; a name before a parenthesis is a function, but "(*name)(" is none.
"$compiler" -E -P -x c "$header" | grep -oE '\blb_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$work/header"
sed -nE 's/^ +(lb_[a-z0-9_]+);$/\1/p' "$map" | sort >"$work/map"
nm -D --defined-only "$shared" | sed 's/@.*//' | awk '$2 != "A" { print $3 }' | sort >"$work/shared"
nm -g --defined-only "$static" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >"$work/static"

failed=0
compare() {
    if ! diff -u "$work/$1" "$work/$2" >"$work/diff"; then
        echo "$1 and $2 differ:"
        sed '1,2d' "$work/diff" | grep '^[-+]'
        failed=1
    fi
}
[ -s "$work/header" ] || { echo "no function found in $header"; exit 1; }
compare header map
compare map shared
grep '^lb_' "$work/static" >"$work/static-public" || true
compare map static-public
if nm -D --defined-only "$shared" | awk '$2 ~ /[BDRCbdrc]/ { print $3; found = 1 } END { exit !found }'; then
    echo "the library exports variables"
    failed=1
fi
if grep -vE '^lbi?_' "$work/static"; then
    echo "the static archive defines global names that are not ours"
    failed=1
fi
echo "$(wc -l <"$work/header") functions in header, version script, shared and static library"
exit $failed
