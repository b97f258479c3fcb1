#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks formatting (clang-format, ruff) of what git tracks, and with --fix mends it. --tidy also looks for defects (clang-tidy)
# in model, engines and program, as the build folder compiles them, which takes minutes. Where a tool is missing it says so.
set -euo pipefail
cd "$(dirname "$0")/.."
fix=${1:-}
mapfile -t cpp < <(git ls-files '*.cpp' '*.hpp' '*.h')
status=0
if command -v clang-format >/dev/null; then
  if [ "$fix" = --fix ]; then clang-format -i "${cpp[@]}"; else clang-format --dry-run -Werror "${cpp[@]}" || status=1; fi
else
  echo "style: clang-format is not installed (Debian package clang-format), C++ was not checked"
fi
tidy() { # clang-tidy 14 of Debian 12: .clang-tidy
  if ! command -v clang-tidy >/dev/null; then echo "style: clang-tidy is not installed (Debian package clang-tidy), C++ was not searched"; return 0; fi
  if [ ! -f build/compile_commands.json ]; then echo "style: build/compile_commands.json is missing (make configure), C++ was not searched"; return 0; fi
  local sources
  mapfile -t sources < <(git ls-files 'model/*.cpp' 'engines/*.cpp' 'apps/*.cpp' | while read -r file; do
    grep -qF "/$file\"" build/compile_commands.json && echo "$file"; done)
  printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 1 clang-tidy -p build --quiet --warnings-as-errors='*' 2>/dev/null || return 1
  echo "style: clang-tidy has nothing to say about ${#sources[@]} C++ sources"
}
if [ "$fix" = --tidy ]; then tidy || status=1; fi
ruff=.venv/bin/ruff
if [ "$fix" = --fix ]; then $ruff format -q . && $ruff check -q --fix .; else { $ruff format -q --check . && $ruff check -q .; } || status=1; fi
[ $status = 0 ] && echo "style: ${#cpp[@]} C++ files and all Python files are as the formatters want them"
exit $status
