#!/bin/bash
# cases.sh SOURCE TEMP CHECK CASE:NEED... - assembles SOURCE with CASE set and GAP
# one below NEED and NEED, runs it with --check CHECK and prints a line per run:
# "case C gap G: clean" or the first finding.
set -u
source=$1 temp=$2 check=$3
shift 3
for pair in "$@"; do
  case=${pair%:*} need=${pair#*:}
  for gap in $((need - 1)) $need; do
    llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=${ARCH:-gfx942} -g -filetype=obj -I "$(dirname "$0")" "$source" \
      -o "$temp.case.o" --defsym CASE=$case --defsym GAP=$gap &&
      ld.lld -shared "$temp.case.o" -o "$temp.case.co" || exit 1
    atrex-sim run "$temp.case.co" --grid ${GRID:-1} --block ${BLOCK:-64} --arg zero:65536 --check $check > "$temp.case.out" 2>&1
    code=$?
    if [ $code = 0 ]; then
      echo "case $case gap $gap: clean"
    elif [ $code = 1 ]; then
      sed -n "1s/^atrex-sim: error: kernel 'test': /case $case gap $gap: finding: /p" "$temp.case.out"
    else
      echo "case $case gap $gap: exit code $code"
    fi
  done
done
