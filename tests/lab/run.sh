#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The laboratory: boots real Linux kernels in QEMU and lets lbsched tell how they balance, and how
# schedulers do whose policy is known because it was written here. docs/lab.md tells more.

set -u
usage='usage: tests/lab/run.sh [OPTION]...
Runs lbsched on real kernels and real schedulers of known policy, and holds its verdicts against them.

  --kernel LIST   5.10, 6.1, 6.12, 7, or linux-*.deb files (default: all four)
  --policy LIST   default and rr (the kernel'"'"'s own classes), none, lazy, active, immediate, single
                  (kernel 7 alone), or files of your own: NAME.bpf.c (default: all); groups
                  (kernel 7, weights)
  --job JOB       detect: the verdict (default); model: how far off the model of a policy (none, lazy,
                  active, immediate) is on N random workloads, beside processor sharing; measure:
                  profile, latency and the matrix of events; host: what is found about the machine;
                  weights: what weight differences cost, beside the historical table (default:
                  kernels 5.10, 6.12 and 7, policies default and groups, 4 sockets of 4 CPUs, each
                  level met once); load: how much work is done under load, compared (default: all
                  kernels, policies default, lazy and immediate; N rounds of all, there and back)
  --cpus SMP      as for -smp of QEMU: 4, or 16,sockets=4,cores=4 (default 2)
  --repeat N      how many runs, or workloads, of each (default 10)
  --keep FOLDER   keep results and traces there; those that are there count too
  --table FOLDER  only the table of what was kept
  --short         a part of each job in under 3 minutes: one run each of kernel 6.1 (default) and 7
                  (default, lazy, active), 5 workloads under lazy, a machine with sockets and threads

Several items of a LIST are separated by spaces or commas. It installs what is missing (Debian, as
root). A kernel or package that is not to be had is skipped, and named.
Exit status: 0 no wrong verdict, 1 a wrong one or an error, 2 a wrong command line, 77 all skipped.
The machine should be idle otherwise: two virtual CPUs need two real ones.'

here=$(cd "$(dirname "$0")" && pwd) || exit 1
root=$(cd "$here/../.." && pwd) || exit 1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/lbsched-lab
export PYTHONDONTWRITEBYTECODE=1

wrong_usage() {
    echo "$0: $*" >&2
    echo "Try '$0 --help'." >&2
    exit 2
}

kernels=
policies=
smp=
repeat=
job=detect
keep=
short=
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
        echo "$usage"
        exit 0
        ;;
    --short)
        short=yes
        shift
        continue
        ;;
    --kernel | --policy | --job | --cpus | --repeat | --keep | --table)
        [ $# -ge 2 ] || wrong_usage "$1 takes an argument"
        ;;
    *) wrong_usage "$1: no such option" ;;
    esac
    case $1 in
    --kernel) kernels=$(echo "$2" | tr ',' ' ') ;;
    --policy) policies=$(echo "$2" | tr ',' ' ') ;;
    --job) job=$2 ;;
    --cpus) smp=$2 ;;
    --repeat) repeat=$2 ;;
    --keep) keep=$2 ;;
    --table) exec python3 "$here/table.py" "$2" ;;
    esac
    shift 2
done
case $job in
weights)
    : "${kernels:=5.10 6.12 7}" "${policies:=default groups}" "${smp:=16,sockets=4,cores=4}" \
        "${repeat:=1}"
    ;;
# As long as they are not said, the policies whose model is another than processor sharing.
model) : "${policies:=none lazy active}" ;;
load) : "${policies:=default lazy immediate}" ;;
detect | measure | host) ;;
*) wrong_usage "--job $job: detect, model, measure, host, weights or load" ;;
esac
: "${kernels:=5.10 6.1 6.12 7}" "${policies:=default rr none lazy active immediate single}" \
    "${smp:=2}" "${repeat:=10}"
case $repeat in
'' | *[!0-9]* | 0*) wrong_usage "--repeat $repeat: a whole number, 1 or more" ;;
esac
for kernel in $kernels; do
    case $kernel in
    5.10 | 6.1 | 6.12 | 7) ;;
    *.deb) [ -r "$kernel" ] || wrong_usage "--kernel $kernel: cannot be read" ;;
    *) wrong_usage "--kernel $kernel: 5.10, 6.1, 6.12, 7 or a .deb file" ;;
    esac
done
for policy in $policies; do
    case $policy in
    default | rr | none | lazy | active | immediate | single | groups) ;;
    *.bpf.c) [ -r "$policy" ] || wrong_usage "--policy $policy: cannot be read" ;;
    *) wrong_usage "--policy $policy: default, rr, none, lazy, active, immediate, single, groups or a .bpf.c file" ;;
    esac
done

work=$(mktemp -d) || exit 1
mkdir -p "$cache" || exit 1
pid=
# Nothing is left behind, interrupts included.
clean() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
[ -n "$keep" ] || keep=$work/results
mkdir -p "$keep" || exit 1
keep=$(cd "$keep" && pwd) || exit 1

skipped=0
skip() {
    echo "skipped  $*"
    skipped=$((skipped + 1))
}

# ---- what is needed ----

# shellcheck source=tests/packages.sh
. "$root/tests/packages.sh"
need_to_build
need libhwloc-dev pkg-config --exists 'hwloc >= 2.0'
need qemu-system-x86 qemu-system-x86_64 --version
need seabios test -e /usr/share/seabios/bios-256k.bin
need busybox-static test -x /bin/busybox
need cpio cpio --version
need zstd zstd --version
need clang clang --version
need libbpf-dev test -e /usr/include/bpf/bpf_helpers.h
if ! install_missing "$work/install.log"; then
    echo "skipped  everything: the packages named above are not to be had"
    exit 77
fi

build=$root/build-lab
{
    [ -e "$build/build.ninja" ] ||
        meson setup "$build" "$root" --buildtype=release -Dexperiment=enabled -Dtests=false
} >"$work/build.log" 2>&1 && ninja -C "$build" >>"$work/build.log" 2>&1 &&
    cc -std=c11 -O2 -Wall -Wextra -I"$root/include" "$here/probe.c" -o "$build/probe" \
        -L"$build/lib" -llbsched -lm -Wl,-rpath,"$build/lib" >>"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    echo "$0: lbsched could not be built" >&2
    exit 1
}

# ---- boots ----

# A user's own kernel package becomes a folder like those of fetch.sh; prints its name.
own_kernel() {
    name=$(basename "$1" .deb)
    folder=$cache/kernels/$name
    if [ ! -s "$folder/vmlinuz" ]; then
        mkdir -p "$folder" && dpkg -x "$1" "$work/deb" || return 1
        find "$work/deb" -name 'vmlinuz*' -exec cp {} "$folder/vmlinuz" \;
        rm -rf "$work/deb"
        echo "$1" >"$folder/package"
    fi
    [ -s "$folder/vmlinuz" ] && echo "$name"
}

boot() {
    "$here/boot.sh" "$qemu" "$@" &
    pid=$!
    wait "$pid"
    status=$?
    pid=
    return "$status"
}

# Debian 12's QEMU now and then lets an emulated kernel panic while schedulers are loaded: rather a
# newer one.
qemu=$cache/qemu
if ! why=$("$here/fetch.sh" "$cache" qemu 2>&1); then
    echo "newer $why; taking the system's"
    qemu=
fi

# KVM where a kernel boots with it, which is not everywhere where /dev/kvm is; else emulation. What
# was found holds until the machine boots again.
choose_accelerator() {
    known=$cache/accelerator
    now=$(cat /proc/sys/kernel/random/boot_id)
    if [ "$(head -n 1 "$known" 2>/dev/null)" != "$now" ]; then
        found=tcg,thread=multi
        : >"$work/no-jobs"
        if [ -w /dev/kvm ] && "$here/initramfs.sh" "$cache" "$work/no-jobs" "$work/image" &&
            boot kvm 2 "$1" "$work/image" "$work/kvm" 10 2>/dev/null; then
            found=kvm
        fi
        printf '%s\n%s\n' "$now" "$found" >"$known"
    fi
    accelerator=$(tail -n 1 "$known")
}

# The next free number among the results of a row.
next_run() {
    last=$(find "$1" -name '*.status' 2>/dev/null | sed 's|.*/||; s|\.status$||' | sort -n | tail -n 1)
    echo $((${last:-0} + 1))
}

# What a scheduler's jobs are called among the results, and the command of one.
names_of() {
    name=$(basename "$1" .bpf.c)
    case $job in
    detect) echo "$name" ;;
    model | weights) echo "$job-$name" ;;
    measure) echo "profile-$name latency-$name events-$name" ;;
    load) echo "batch-$name few-$name users-$name messages-$name" ;;
    host) echo "host-$smp" ;;
    esac
}

# What load.py knows too: few jobs, of which the model tells how long each takes.
load_of() {
    case $1 in
    batch) echo "--measure batch --jobs 12 --points 4,all" ;;
    few) echo "--measure batch --jobs 5 --points all" ;;
    users) echo "--measure users --points 1,2,4,8,16" ;;
    messages) echo "--measure messages --points 1,4" ;;
    esac
}

command_of() {
    case $job in
    detect) echo "lbsched-detect --json --trace $1.csv" ;;
    model) echo "probe model ${1#model-} $repeat $(date +%s)" ;;
    measure) echo "lbsched-detect --measure ${1%%-*} --json" ;;
    host) echo "probe host" ;;
    weights) echo "lbsched-weights --json --seconds 3 --repeats $repeat" ;;
    load) echo "lbsched-compare $(load_of "${1%%-*}") --repeats 2 --json --save $1.csv" ;;
    esac
}

# One boot: run KERNEL SECONDS SCHEDULER... does one run of each scheduler.
run() {
    kernel=$1
    seconds=$2
    shift 2
    folder=$cache/kernels/$kernel
    objects=
    : >"$work/jobs"
    for scheduler in "$@"; do
        name=$(basename "$scheduler" .bpf.c)
        for result in $(names_of "$scheduler"); do
            echo "$result $name $(command_of "$result")" >>"$work/jobs"
        done
        [ ! -e "$work/$kernel/$name.bpf.o" ] || objects="$objects $work/$kernel/$name.bpf.o"
    done
    # shellcheck disable=SC2086
    "$here/initramfs.sh" "$cache" "$work/jobs" "$work/image" "$build/examples/lbsched-detect" \
        "$build/examples/lbsched-weights" "$build/examples/lbsched-compare" "$build/probe" "$(command -v chrt)" $objects || return 1
    for try in 1 2 3; do
        rm -rf "$work/out"
        boot "$accelerator" "$smp" "$folder/vmlinuz" "$work/image" "$work/out" "$seconds" && break
        # What failed before the first job began says nothing about lbsched.
        if [ "$try" = 3 ] || grep -aq '^lab:' "$work/out/console"; then
            return 1
        fi
        echo "the emulated kernel did not come up: once more"
    done
    grep -a '^lab:' "$work/out/console"
    for scheduler in "$@"; do
        for result in $(names_of "$scheduler"); do
            row=$keep/$kernel/$result
            mkdir -p "$row" || return 1
            n=$(next_run "$row")
            for file in "$work/out/$result".*; do
                mv "$file" "$row/$n.${file##*.}" || return 1
            done
            cp "$work/out/dmesg" "$row/$n.dmesg"
        done
    done
}

# Which of the policies does this kernel take? Compiles them.
takes() {
    kernel=$1
    mkdir -p "$work/$kernel"
    taken=
    for scheduler in $policies; do
        case $scheduler in
        default | rr)
            taken="$taken $scheduler"
            continue
            ;;
        *.bpf.c) source=$scheduler ;;
        *) source=$here/policies/$scheduler.bpf.c ;;
        esac
        # Only 7 among the kernels that fetch.sh knows has sched_ext and says so.
        case $kernel in
        5.10 | 6.1 | 6.12) continue ;;
        esac
        object=$work/$kernel/$(basename "$source" .c).o
        if why=$("$here/policy.sh" "$cache" "$cache/kernels/$kernel" "$source" "$object" 2>&1); then
            taken="$taken $scheduler"
        elif [ $? = 77 ]; then
            skip "$kernel, $scheduler: $why"
        else
            echo "$why" >&2
            return 1
        fi
    done
}

# do_job JOB KERNELS POLICIES REPEAT SMP
do_job() {
    job=$1
    policies=$3
    repeat=$4
    smp=$5
    [ "$job" != host ] || policies=default
    for kernel in $2; do
        case $kernel in
        *.deb)
            kernel=$(own_kernel "$kernel") || {
                echo "$0: there is no vmlinuz in it" >&2
                exit 1
            }
            ;;
        *)
            if ! why=$("$here/fetch.sh" "$cache" "$kernel" 2>&1); then
                skip "kernel $why"
                continue
            fi
            ;;
        esac
        [ -n "$accelerator" ] || {
            choose_accelerator "$cache/kernels/$kernel/vmlinuz"
            echo "accelerator: $accelerator," \
                "$("${qemu:+$qemu/usr/bin/}qemu-system-x86_64" --version | head -n 1)"
        }
        echo "kernel $kernel: $(cat "$cache/kernels/$kernel/package")"
        takes "$kernel" || exit 1
        # The workloads of a model are repeated in the guest.
        case $job in
        detect | measure) rounds=$repeat ;;
        *) rounds=1 ;;
        esac
        # 21 levels, alone and with the normal task.
        [ "$job" = weights ] && seconds=$((600 + 600 * repeat)) || seconds=600
        while [ -n "$taken" ] && [ "$rounds" -gt 0 ]; do
            rounds=$((rounds - 1))
            # shellcheck disable=SC2086
            run "$kernel" "$seconds" $taken || failed=$((failed + 1))
        done
    done
}

accelerator=
failed=0
if [ -n "$short" ]; then
    do_job detect 6.1 default 1 2
    do_job detect 7 'default lazy active' 1 2
    do_job model 7 lazy 5 2
    do_job host 6.1 default 1 4,sockets=2,threads=2
elif [ "$job" = load ]; then
    # There and back: what changes slowly meets all kernels alike.
    order=$kernels
    rounds_left=$repeat
    while [ "$rounds_left" -gt 0 ]; do
        do_job load "$order" "$policies" 1 "$smp"
        # shellcheck disable=SC2086
        order=$(printf '%s\n' $order | tac | tr '\n' ' ')
        rounds_left=$((rounds_left - 1))
    done
else
    do_job "$job" "$kernels" "$policies" "$repeat" "$smp"
fi

[ -n "$(find "$keep" -name '*.status' | head -n 1)" ] || {
    [ "$failed" = 0 ] || exit 1
    echo "nothing ran: all was skipped"
    exit 77
}
status=0
if [ "$job" = load ]; then
    python3 "$here/load.py" "$build/examples" "$keep" || status=1
else
    python3 "$here/latency.py" "$build/probe" "$keep" || [ $? = 77 ] || status=1
    python3 "$here/table.py" "$keep" || status=1
fi
[ "$skipped" = 0 ] || echo "$skipped skipped"
[ "$failed" = 0 ] || {
    echo "$failed boots failed"
    status=1
}
exit "$status"
