# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests/run.sh and examples/detect.sh: finds out which Debian packages are missing and
# installs those, and touches neither package manager nor network where none is.

missing=

# need PACKAGE COMMAND...: the package is missing unless the command succeeds.
need() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

compiles_c() {
    echo '#include <stdio.h>' | cc -x c -fsyntax-only -
}

# What every build needs.
need_to_build() {
    need meson meson --version
    need ninja-build ninja --version
    need pkg-config pkg-config --version
    need gcc cc --version
    need libc6-dev compiles_c
}

# install_missing LOG: installs what need() found missing, or says what that is and fails.
install_missing() {
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "$0: missing, and no apt-get to install them:$missing (as Debian names them)" >&2
        return 1
    fi
    if [ "$(id -u)" != 0 ]; then
        echo "$0: missing:$missing. As root: apt-get install$missing" >&2
        return 1
    fi
    echo "installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    # An update that fails is no reason to give up: the lists that are there may do.
    apt-get update -qq >"$1" 2>&1 || true
    # Unquoted: one word a package.
    # shellcheck disable=SC2086
    if ! apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 $missing \
        >>"$1" 2>&1; then
        cat "$1" >&2
        echo "$0: apt-get could not install$missing" >&2
        return 1
    fi
}
