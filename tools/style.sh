#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks formatting (clang-format, ruff) of what git tracks, and with --fix mends it. --tidy also looks for defects (clang-tidy)
# in all sources of the library that changed since they were clean in this build folder, --tidy-all in every one, which takes a quarter
# of an hour of CPU: tools/ngtools/tidy.py. Where a tool is missing it says so.
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
case $fix in
  --tidy) PYTHONPATH=tools .venv/bin/python -m ngtools.tidy build || status=1 ;;
  --tidy-all) PYTHONPATH=tools .venv/bin/python -m ngtools.tidy build --all || status=1 ;;
esac
ruff=.venv/bin/ruff
if [ "$fix" = --fix ]; then $ruff format -q . && $ruff check -q --fix .; else { $ruff format -q --check . && $ruff check -q .; } || status=1; fi
[ $status = 0 ] && echo "style: ${#cpp[@]} C++ files and all Python files are as the formatters want them"
exit $status
