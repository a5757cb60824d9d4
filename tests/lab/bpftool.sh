#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the bpftool of TOOLS (fetch.sh), which is newer than Debian 12's, with the C library it needs.
#
#     tests/lab/bpftool.sh TOOLS ARGUMENT...
tools=$1
shift
exec "$tools/usr/lib64/ld-linux-x86-64.so.2" --library-path "$tools/usr/lib/x86_64-linux-gnu" \
    "$tools/usr/sbin/bpftool" "$@"
