#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Narrowgauge needs: Debian or Ubuntu packages (tools/apt-packages.txt) by apt, Python packages
# (python/requirements.lock) into .venv, by version and hash. What is there already is left alone: a second run takes a
# moment and no network (ctest -R tools.dependencies). docs/dependencies.md says what each package is for.
#   tools/setup.sh         everything
#   tools/setup.sh demo    only what `make demo` uses
#   tools/setup.sh area    everything, and what only `make area` and tests of other tools use (python/requirements-area.lock)
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\033[1msetup:\033[0m %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 2; }

what=${1:-all}
case $what in
  demo) groups=(demo); tools=(cmake g++ make ninja verilator python3) ;;
  all | area)
    groups=(demo test)
    tools=(cmake g++ git make ninja verilator yosys nextpnr-ice40 icetime iverilog sta cvc4 riscv64-unknown-elf-gcc arm-none-eabi-gcc python3)
    ;;
  *) fail "'$what' is not known; expected nothing, demo or area" ;;
esac
packages() { awk -v group="[$1]" '/^\[/ { on = $0 == group; next } on && NF && !/^#/' tools/apt-packages.txt; }
installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

wanted=()
for group in "${groups[@]}"; do mapfile -t -O ${#wanted[@]} wanted < <(packages "$group"); done
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  missing=()
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    fail "this system has no apt-get, and these programs are missing: ${missing[*]}. Install them (their Debian packages: ${wanted[*]}) and run again."
  fi
  say "no apt-get here; all programs were found, libraries are taken on trust (of the packages ${wanted[*]})"
else
  missing=()
  for package in "${wanted[@]}"; do
    installed "$package" || missing+=("$package")
  done
  optional=()
  if [ "$what" != demo ]; then
    for package in $(packages optional); do installed "$package" || optional+=("$package"); done
  fi
  if [ ${#missing[@]} -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || fail "these Debian packages are missing and this user is neither root nor has sudo: ${missing[*]}. Ask for: apt-get install ${missing[*]}"
      as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq
  fi
  # What the distribution does not have, or what nobody here may install, is left out by name.
  lacking=()
  for package in "${optional[@]}"; do
    if { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; } && apt-cache show "$package" >/dev/null 2>&1; then
      missing+=("$package")
    else
      lacking+=("$package")
    fi
  done
  if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" = 0 ] && as_root=() || as_root=(sudo)
    say "installing ${#missing[@]} Debian packages: ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
  say "${#wanted[@]} Debian packages are there"
  [ ${#lacking[@]} = 0 ] || say "not in this distribution, so tests that need them are skipped: ${lacking[*]}"
fi

python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)
lock=python/requirements.lock
# The entries of these packages in the lock, with their hashes.
locked() { awk -v names="^($1)==" '/^[a-z0-9]/ { on = $0 ~ names } on' "$lock"; }
count() { grep -cE '^[a-z0-9]' "$1"; }
install() { .venv/bin/pip install --quiet --disable-pip-version-check --require-hashes "$@"; }
# .venv/.requirements says what is in .venv: all of the lock, or the demo's part of it.
stamp=.venv/.requirements
if [ "$what" = demo ] && ! cmp -s "$lock" "$stamp"; then
  some=$(locked 'numpy|pyslang|nanobind-backend') # the last is pyslang's
  if [ "$(cat "$stamp" 2>/dev/null)" != "$some" ]; then
    say "making .venv with numpy and pyslang"
    "$python" -m venv --clear .venv
    install -r <(echo "$some")
    echo "$some" > "$stamp"
  fi
elif ! cmp -s "$lock" "$stamp"; then
  say "making .venv and installing $(count "$lock") Python packages"
  "$python" -m venv --clear .venv
  # First what builds packages that have no wheel: otherwise pip would fetch it by itself, with no hash.
  install -r <(locked setuptools)
  install --no-build-isolation -r "$lock"
  .venv/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation -e tools
  cp "$lock" "$stamp"
fi
more=python/requirements-$what.lock
if [ -e "$more" ] && ! cmp -s "$more" "$stamp-$what"; then
  say "installing $(count "$more") Python packages, of which some are there"
  install --no-build-isolation -r "$more"
  cp "$more" "$stamp-$what"
fi
say "Python packages are in .venv"
