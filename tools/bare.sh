#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one of README's commands on a bare Debian: makes a chroot, clones the tree as committed into it, and prints what it took.
set -euo pipefail
usage() {
  cat <<'HELP'
tools/bare.sh 12|13 demo|test [--keep] [--folder DIR] [-- ARGUMENT...]

Runs `make demo` or `make test` where nothing but Debian is installed, and without a compiler cache.
The chroot holds Debian 12 or 13 as debootstrap makes it, with git, make and certificates.
The tree is HEAD as committed; uncommitted changes do not count.

  --keep         leave the chroot; a later run begins from its clean copy and saves the download
  --folder DIR   where the chroot stands (default: build-bare)
  ARGUMENT...    further words for make, for example CTEST_ARGUMENTS='-L model'

Prints time, CPU time and disk, the names of failed tests, and ends with the exit code of make.
Needs root, debootstrap and the package registries that `make setup` needs.
HELP
}
fail() { printf 'bare: %s\n' "$*" >&2; exit 2; }
say() { printf '\033[1mbare:\033[0m %s\n' "$*"; }

cd "$(dirname "$0")/.."
case ${1-} in
  12) suite=bookworm ;;
  13) suite=trixie ;;
  -h | --help) usage; exit ;;
  *) fail "Debian \"${1-}\" is not known; expected 12 or 13 (tools/bare.sh --help)" ;;
esac
release=$1
what=${2-}
case $what in demo | test) ;; *) fail "command \"$what\" is not known; expected demo or test (tools/bare.sh --help)" ;; esac
shift 2
keep=
folder=build-bare
while [ $# -gt 0 ]; do
  case $1 in
    --keep) keep=1 ;;
    --folder) folder=${2:?}; shift ;;
    --) shift; break ;;
    *) fail "option \"$1\" is not known; expected --keep, --folder or -- (tools/bare.sh --help)" ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || fail "user \"$(id -un)\" cannot make a chroot; expected root"
if ! command -v debootstrap >/dev/null; then
  say "installing debootstrap"
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; } >/dev/null || fail "debootstrap cannot be installed; install the package debootstrap"
fi

mkdir -p "$folder"
base=$(realpath "$folder")/base-$release
root=$(realpath "$folder")/debian-$release
log=$(realpath "$folder")/debian-$release-$what.log
commit=$(git rev-parse HEAD)
unmount() {
  for mount in dev/pts dev/shm dev proc sys; do
    while mountpoint -q "$root/$mount"; do umount -l "$root/$mount"; done
  done
}
clean() {
  unmount
  rm -rf --one-file-system "$root"
  [ -n "$keep" ] || rm -rf --one-file-system "$base"
}
trap clean EXIT
unmount
rm -rf --one-file-system "$root"
if [ ! -e "$base/made" ]; then
  rm -rf --one-file-system "$base"
  say "Debian $release ($suite) into $folder"
  debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$base" >"$log" 2>&1 || { tail -n 20 "$log" >&2; fail "debootstrap failed; the lines above are the end of $log"; }
  touch "$base/made"
fi
cp -a --reflink=auto "$base" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
# The network of this machine: names, certificates, and which registries pip and apt may ask.
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/hosts "$root/etc/hosts"
[ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
inside=/root  # the home of the chroot's user
passed=(HOME=$inside LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive CCACHE_DISABLE=1 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
while IFS= read -r name; do passed+=("$name=${!name}"); done < <(compgen -e | grep -iE '^(https?_proxy|no_proxy|PIP_CERT|PIP_INDEX_URL|PIP_DEFAULT_TIMEOUT|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)$')

git clone -q --no-local . "$root/root/narrowgauge"
[ "$(git -C "$root/root/narrowgauge" rev-parse HEAD)" = "$commit" ] || fail "the clone is not at $commit"
say "make $what on Debian $release, commit ${commit:0:12}; its output is in $log"
status=0
TIMEFORMAT='%R %U %S'
{ time env -i "${passed[@]}" chroot "$root" make -C "$inside/narrowgauge" "$what" "$@" >"$log" 2>&1; } 2>"$log.time" || status=$?
read -r wall user system < <(tail -n 1 "$log.time")
rm -f "$log.time"
disk=$(du -sx --block-size=1M "$root" | cut -f1)
grep -E '^[0-9]+% tests passed|^The following tests|^\s+[0-9]+ - .*\((Failed|SEGFAULT|Timeout|Not Run|.*exception.*|Skipped|Disabled)\)|bit-exact with the golden model' "$log" || tail -n 30 "$log"
say "make $what on Debian $release: exit code $status; ${wall%.*} s, ${user%.*} s user and ${system%.*} s system, $disk MB with Debian"
exit $status
