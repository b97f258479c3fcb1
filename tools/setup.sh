#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Narrowgauge needs: Debian packages (tools/apt-packages.txt) by apt, Python packages
# (python/requirements.txt) into .venv. What is there already is left alone; a second run takes a moment.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\033[1msetup:\033[0m %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 2; }

mapfile -t wanted < <(grep -v '^#' tools/apt-packages.txt)
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  missing=()
  for tool in cmake g++ git make ninja verilator yosys nextpnr-ice40 icetime iverilog sta cvc4 riscv64-unknown-elf-gcc arm-none-eabi-gcc python3; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    fail "this system has no apt-get, and these programs are missing: ${missing[*]}. Install them (their Debian packages: ${wanted[*]}) and run again."
  fi
  say "no apt-get here; all programs were found, libraries are taken on trust (GoogleTest, Google Benchmark, CLI11, nlohmann-json, xtensor, yaml-cpp, zlib, SystemC, Unicorn)"
else
  missing=()
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || fail "these Debian packages are missing and this user is neither root nor has sudo: ${missing[*]}. Ask for: apt-get install ${missing[*]}"
      as_root=(sudo)
    fi
    say "installing ${#missing[@]} of ${#wanted[@]} Debian packages: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
  say "${#wanted[@]} Debian packages are there"
fi

python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)
stamp=.venv/.requirements
if ! cmp -s python/requirements.txt "$stamp"; then
  say "making .venv and installing $(grep -cE '^[a-zA-Z]' python/requirements.txt) Python packages"
  "$python" -m venv --clear .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r python/requirements.txt
  .venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e tools
  cp python/requirements.txt "$stamp"
fi
say "Python packages are in .venv"
