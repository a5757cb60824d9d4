#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds lbsched in every way that is supported and runs every test. On a Debian machine where
# something for it is missing, it installs that (as root) or says what it is (else).
#
#     tests/run.sh            all steps
#     tests/run.sh STEP...    some of them: build asan model locale release clang docs format spdx
#
# The last line is `N passed, N failed, N skipped`: each test of each build and each step counts
# once. Skips are named before it with their reasons. The exit status is 0 if nothing failed.
# Everything is built under build-run/, anew each time.

set -u
cd "$(dirname "$0")/.." || exit 1
steps=${*:-build asan model locale release clang docs format spdx}
for step in $steps; do
    case $step in
    build | asan | model | locale | release | clang | docs | format | spdx) ;;
    *)
        echo "usage: $0 [build|asan|model|locale|release|clang|docs|format|spdx]..." >&2
        exit 2
        ;;
    esac
done

out=$PWD/build-run
rm -rf "$out"
mkdir -p "$out" || exit 1

# shellcheck source=tests/packages.sh
. tests/packages.sh
need_to_build
need g++ c++ --version
need libhwloc-dev pkg-config --exists 'hwloc >= 2.0'
need hwloc-nox lstopo-no-graphics --version
need libudev-dev pkg-config --exists libudev
need check pkg-config --exists 'check >= 0.15'
need gnuplot-nox gnuplot --version
need groff-base groff --version
need make make --version
need cmake cmake --version
need doxygen doxygen --version
need doxygen-awesome-css test -e /usr/share/doxygen-awesome-css/doxygen-awesome.css
# Of the version that clang has, where it is installed.
if command -v clang >/dev/null 2>&1; then
    need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" \
        test -e "$(clang -print-file-name=lib/linux/libclang_rt.fuzzer-x86_64.a)"
fi
need clang-format clang-format --version
need locales test -e /usr/share/i18n/locales/de_DE
need r-base-core Rscript --version
need libsimgrid-dev pkg-config --exists simgrid
need libbenchmark-dev pkg-config --exists benchmark
need libopenmpi-dev mpicc --version
need openmpi-bin mpirun --version
need chromium chromium --version
install_missing "$out/install.log" || exit 1

passed=0 failed=0 skipped=0
skips=$out/skips
: >"$skips"

# check NAME COMMAND...: a step that counts as one test.
check() {
    name=$1
    shift
    log=$out/$(echo "$name" | tr -c 'a-z0-9\n' -).log
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok       $name"
    else
        failed=$((failed + 1))
        echo "FAILED   $name"
        tail -n 40 "$log" | sed 's/^/    /'
        return 1
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped  $1: $2" >>"$skips"
}

# build NAME OPTION...: a build of its own in $out/NAME, free of warnings.
build() {
    build=$out/$1
    shift
    check "$(basename "$build"): configure" meson setup "$build" -Dwerror=true "$@" &&
        check "$(basename "$build"): compile" ninja -C "$build"
}

# run_tests NAME BUILD OPTION...: each test of a build counts as one.
run_tests() {
    name=$1
    build=$out/$2
    shift 2
    logs=$build/meson-logs
    rm -f "$logs"/testlog*.json
    meson test -C "$build" --no-rebuild --logbase "testlog-$name" "$@" >"$out/$name-tests.log" 2>&1
    status=$?
    if [ ! -s "$logs/testlog-$name.json" ]; then
        failed=$((failed + 1))
        echo "FAILED   $name: no test ran"
        tail -n 20 "$out/$name-tests.log" | sed 's/^/    /'
        return
    fi
    python3 tests/tally.py "$name" "$logs/testlog-$name.json" >"$out/$name.tally"
    # shellcheck disable=SC2046
    set -- $(tail -n 1 "$out/$name.tally") $status
    sed '$d' "$out/$name.tally" | grep '^skipped' >>"$skips"
    sed '$d' "$out/$name.tally" | grep -v '^skipped'
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    if [ "$2" = 0 ] && [ "$4" != 0 ]; then
        failed=$((failed + 1))
        echo "FAILED   $name: meson test ended with status $4"
    else
        echo "$([ "$2" = 0 ] && echo 'ok      ' || echo 'FAILED  ') $name: $1 tests passed," \
            "$2 failed, $3 skipped"
    fi
}

# The files of the project whose names end so (all, without an argument).
files() {
    { git ls-files -co --exclude-standard 2>/dev/null ||
        find . -path ./.git -prune -o -path './build*' -prune -o -type f -print; } |
        grep -E "${1:-.}"
}

needs_hwloc() {
    readelf -d "$1"/lib/liblbsched.so && ! readelf -d "$1"/lib/liblbsched.so | grep -q hwloc &&
        ! grep hwloc "$1"/meson-private/lbsched.pc
}

# same_code BUILD OTHER: what both are made of but for the experiments is the same, byte for byte.
same_code() {
    for object in "$1"/lib/base/*/*.o "$1"/lib/trace/*/*.o "$1"/lib/model/*/*.o "$1"/lib/classify/*/*.o; do
        objcopy --strip-debug "$object" "$out/one.o" &&
            objcopy --strip-debug "$2${object#"$1"}" "$out/other.o" &&
            cmp "$out/one.o" "$out/other.o" || return 1
    done
}

formatted() {
    # shellcheck disable=SC2046
    clang-format --dry-run -Werror $(files '\.([ch]|cc|[ch]pp)$')
}

# All files but the licence text itself, those that are empty, and what the fuzzer found.
licensed() {
    bad=$(files | grep -vE '^(\./)?(LICENSE$|tests/fuzz/corpus/)' | while read -r file; do
        [ ! -s "$file" ] || head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || echo "$file"
    done)
    [ -z "$bad" ] || {
        echo "no SPDX line in:"
        echo "$bad"
        return 1
    }
}

wants() {
    case " $steps " in
    *" $1 "*) ;;
    *) return 1 ;;
    esac
}

if wants build || wants locale; then
    if build normal; then
        if wants build; then
            check "normal: compile the benchmarks" ninja -C "$out/normal" benchmarks
            run_tests normal normal
            run_tests truth normal --suite truth
        fi
        if wants locale; then
            # The locale is made here and found through LOCPATH: nothing of the system changes.
            mkdir -p "$out/locale"
            if check "locale: make de_DE.UTF-8" \
                localedef -i de_DE -f UTF-8 "$out/locale/de_DE.UTF-8"; then
                LOCPATH=$out/locale LBSCHED_TEST_LOCALE=de_DE.UTF-8 \
                    run_tests locale normal --suite unit --no-suite workers
            fi
        fi
    fi
fi

if wants asan; then
    if build asan -Db_sanitize=address,undefined -Db_lundef=false -Dexamples=false \
        -Dc_args=-fno-sanitize-recover=all; then
        ASAN_OPTIONS=detect_leaks=1:halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 \
            run_tests asan asan --suite unit --timeout-multiplier 4
    fi
fi

if wants model; then
    if build model -Dexperiment=disabled; then
        check "model: hwloc is not needed" needs_hwloc "$out/model"
        # What tests of these parts alone have shown of one build they show of the other.
        if wants build && same_code "$out/normal" "$out/model" >"$out/same-code.log" 2>&1; then
            run_tests model model --suite abi --suite examples
        else
            run_tests model model
        fi
    fi
fi

# Optimised, the compiler looks further; detect.sh and packagers build it so.
if wants release; then
    build release --buildtype=release -Dtests=false
fi

if wants clang; then
    if command -v clang >/dev/null 2>&1; then
        # With the sanitizers too, for the C++ examples, which the step asan does not build, and with
        # the short form of tests/fuzz/run.sh: the corpora, and some thousand inputs more.
        # Not optimised: clang warns all the same.
        CC=clang CXX=clang++ build clang -Doptimization=0 -Db_sanitize=address,undefined \
            -Db_lundef=false -Dc_args=-fno-sanitize-recover=all -Dfuzz=true &&
            run_tests clang clang simgrid-host google-benchmark &&
            run_tests fuzz clang --suite fuzz
    else
        skip "clang: compile" "clang is not installed; gcc alone compiled this"
    fi
fi

if wants docs; then
    if check "docs: configure" meson setup "$out/docs" -Ddocs=true -Dtests=false -Dexamples=false; then
        check "docs: no warning of Doxygen" ninja -C "$out/docs" docs/html &&
            check "docs: links, pictures and search" python3 tests/manual.py "$out/docs/docs/html"
        command -v chromium >/dev/null 2>&1 ||
            skip "docs: pictures and search in a browser" "Chromium is not installed"
    fi
fi

if wants format; then
    check "format: clang-format" formatted
fi

if wants spdx; then
    check "spdx: every file" licensed
fi

cat "$skips"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
