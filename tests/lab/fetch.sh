#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Brings a kernel or the guest's tools from the Debian mirror that this machine's apt uses, with an
# apt configuration of its own: nothing of the system changes.
#
#     tests/lab/fetch.sh CACHE 5.10|6.1|6.12|7    CACHE/kernels/NAME/{vmlinuz,package}
#     tests/lab/fetch.sh CACHE bpftool            CACHE/tools: Debian 13's, with its libraries
#     tests/lab/fetch.sh CACHE qemu               CACHE/qemu: that of Debian 12's backports
#
# What is there already is left as it is. Exit status 77 and one line why, if it is not to be had.

set -u
cache=$1
name=$2
# The suites that have the kernels: the machine's own one may be any of them.
suites='bullseye bookworm bookworm-backports trixie trixie-backports'

skip() {
    echo "$name: $*" >&2
    exit 77
}

# The mirror of the machine's own Debian suite.
mirror() {
    apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(RELEASE)' 'Created-By: Packages' |
        awk -v release="$(. /etc/os-release && echo "${VERSION_CODENAME-}")" \
            '$2 == "Debian" && $3 == release { print $1; exit }'
}

private_apt() {
    tool=$1
    shift
    "$tool" -c "$cache/apt/apt.conf" "$@"
}

# The packages' lists, at most once a day.
update() {
    [ -z "$(find "$cache/apt/updated" -mmin -1440 2>/dev/null)" ] || return 0
    command -v apt-get >/dev/null || skip "there is no apt-get to fetch it"
    uri=$(mirror)
    if [ -z "$uri" ]; then
        [ "$(id -u)" != 0 ] || apt-get update -qq >/dev/null 2>&1
        uri=$(mirror)
    fi
    [ -n "$uri" ] || skip "apt knows no Debian mirror"
    mkdir -p "$cache/apt/etc/preferences.d" "$cache/apt/lists/partial" "$cache/apt/cache/archives/partial"
    cat >"$cache/apt/apt.conf" <<EOF
Dir::Etc "$cache/apt/etc";
Dir::Etc::trusted "/etc/apt/trusted.gpg";
Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d";
Dir::State::lists "$cache/apt/lists";
Dir::Cache "$cache/apt/cache";
APT::Sandbox::User "";
Acquire::Languages "none";
EOF
    for suite in $suites; do
        echo "deb $uri $suite main"
    done >"$cache/apt/etc/sources.list"
    # One suite that the mirror has no longer leaves the others.
    private_apt apt-get update -qq >"$cache/apt/update.log" 2>&1 ||
        grep '^[EW]:' "$cache/apt/update.log" >&2
    touch "$cache/apt/updated"
}

# download FOLDER PACKAGE[/SUITE]...: unpacks packages there.
download() {
    folder=$1
    shift
    rm -rf "$folder.new" && mkdir -p "$folder.new/debs" || exit 1
    (cd "$folder.new/debs" && private_apt apt-get download -qq "$@") >"$cache/apt/download.log" 2>&1 ||
        skip "$* cannot be downloaded: $(tail -n 1 "$cache/apt/download.log")"
    for deb in "$folder.new"/debs/*.deb; do
        dpkg -x "$deb" "$folder.new" || exit 1
    done
    rm -rf "$folder.new/debs"
}

kernel() {
    [ -s "$cache/kernels/$name/vmlinuz" ] && exit 0
    update
    package=$(private_apt apt-cache pkgnames | grep -E "^$1$" | sort -V | tail -n 1)
    [ -n "$package" ] || skip "no package like $1 in $suites"
    mkdir -p "$cache/kernels"
    download "$cache/kernels/$name" "$package"
    rm -rf "$cache/kernels/${name:?}"
    mkdir "$cache/kernels/$name"
    echo "$package" >"$cache/kernels/$name/package"
    find "$cache/kernels/$name.new" -name 'vmlinuz*' -exec mv {} "$cache/kernels/$name/vmlinuz" \;
    rm -rf "$cache/kernels/$name.new"
    [ -s "$cache/kernels/$name/vmlinuz" ] || skip "there is no vmlinuz in $package"
}

# It uses the libraries of the system's QEMU, which is 7.2.
qemu() {
    [ -x "$cache/qemu/usr/bin/qemu-system-x86_64" ] && exit 0
    update
    download "$cache/qemu" qemu-system-x86/bookworm-backports qemu-system-data/bookworm-backports \
        seabios/bookworm-backports
    ldd "$cache/qemu.new/usr/bin/qemu-system-x86_64" | grep 'not found' >&2 &&
        skip "the system has other libraries than it needs"
    rm -rf "$cache/qemu"
    mv "$cache/qemu.new" "$cache/qemu"
}

tools() {
    [ -x "$cache/tools/usr/sbin/bpftool" ] && exit 0
    update
    download "$cache/tools" bpftool/trixie libc6/trixie libbpf1/trixie libelf1t64/trixie \
        zlib1g/trixie libzstd1/trixie libcap2/trixie libssl3t64/trixie
    rm -rf "$cache/tools"
    mv "$cache/tools.new" "$cache/tools"
}

case $name in
5.10 | 6.1) kernel "linux-image-$(echo "$name" | sed 's/\./\\./')\\.[0-9.]+-[0-9]+-cloud-amd64" ;;
6.12) kernel 'linux-image-6\.12\.[0-9.]+.*-cloud-amd64' ;;
7) kernel 'linux-binary-7\.[0-9.]+.*-cloud-amd64' ;;
bpftool) tools ;;
qemu) qemu ;;
*) skip "a kernel is 5.10, 6.1, 6.12, 7 or a .deb file" ;;
esac
