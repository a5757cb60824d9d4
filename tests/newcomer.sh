#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A newcomer's first minutes: an empty Debian 12 (debootstrap's minbase, from the mirror that this
# machine's apt uses, in a folder that is removed again), in which README.md is followed to the letter:
# the lines under "Building and linking", and then the ten lines of C. Prints when each was done.
#
#     tests/newcomer.sh [FOLDER]     for the chroot; a new one in /var/tmp else
#
# Ends with 0 if the program printed what README.md says within five minutes, counted from the empty
# machine on, 1 if not, and 77 with the reason where it cannot be tried.

set -u
cd "$(dirname "$0")/.." || exit 1

skip() {
    echo "skipped: $*"
    exit 77
}

[ "$(id -u)" = 0 ] || skip "only root can enter a chroot"
command -v debootstrap >/dev/null || skip "no debootstrap (Debian: debootstrap)"
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(RELEASE)' 'Created-By: Packages' |
    awk '$2 == "Debian" && $3 == "bookworm" { print $1; exit }')
[ -n "$mirror" ] || skip "apt knows no mirror of Debian 12; apt-get update may help"

root=${1:-$(mktemp -d /var/tmp/lbsched-newcomer-XXXXXX)}
mkdir -p "$root" || exit 1
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT TERM
echo "an empty Debian 12 is made in $root"
debootstrap --variant=minbase bookworm "$root/debian" "$mirror" >"$root/log" 2>&1 || {
    tail -n 3 "$root/log"
    skip "debootstrap failed"
}

# What a newcomer has: a copy of the sources, and someone who says yes to apt-get.
mkdir "$root/debian/root/lbsched"
git ls-files -co --exclude-standard | tar -c -T - | tar -x -C "$root/debian/root/lbsched"
cp /etc/resolv.conf "$root/debian/etc/" 2>/dev/null
echo 'APT::Get::Assume-Yes "true";' >"$root/debian/etc/apt/apt.conf.d/yes"

# block LANGUAGE HEADING: the first block in that language below that heading of README.md.
block() {
    awk -v language="$1" -v heading="$2" '
        $0 == heading { below = 1 }
        below && $0 == "```" language { inside = 1; next }
        inside && $0 == "```" { exit }
        inside' README.md
}

{
    echo 'set -eu; export DEBIAN_FRONTEND=noninteractive LC_ALL=C; cd /root/lbsched; begin=$(date +%s)'
    echo 'done_at() { echo "$(($(date +%s) - begin)) s: $*" >&3; }'
    # Of the ways to compile a program the first: a line, and then when it was done.
    block sh '## Building and linking' | sed 's/ *#.*//' | awk '
        /^cc / && seen++ { next }
        { print; gsub(/[\\"$`]/, "\\\\&"); printf "done_at \"%s\"\n", $0 }'
    echo './a.out >&4; done_at ./a.out'
} >"$root/debian/root/steps"
block c '## A small program in C' >"$root/debian/root/lbsched/program.c"

begin=$(date +%s)
# The mount is seen by these processes alone, and goes with them.
unshare --mount sh -c 'mount -t proc proc "$0/proc" &&
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$0" sh /root/steps' "$root/debian" \
    3>&1 4>"$root/answer" >"$root/log" 2>&1
status=$?
took=$(($(date +%s) - begin))
[ "$status" = 0 ] || {
    tail -n 20 "$root/log"
    echo "a step ended with status $status"
    exit 1
}
cat "$root/answer"
expected=$(sed -n 's/^It prints \(.*\) s\..*/\1/p' README.md | tr -d ',' | sed 's/ and / /')
printed=$(sed -n 's/^process [0-9]*: \(.*\) s$/\1/p' "$root/answer" | tr '\n' ' ')
[ "$printed" = "$expected " ] || {
    echo "printed: $printed, expected: $expected"
    exit 1
}
echo "an answer after $took s"
[ "$took" -lt 300 ]
