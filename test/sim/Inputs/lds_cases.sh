#!/bin/bash
# lds_cases.sh SOURCE TEMP ARCH CHECK CASE... - assembles SOURCE with CASE set and
# SHIFT 0 and 4, runs it with --check CHECK on zeros, TEMP.in and a buffer that
# nothing has written (BLOCK work-items, 64 by default) and prints a line per run:
# "case C shift S: clean" or the first finding.
set -u
source=$1 temp=$2 arch=$3 check=$4
shift 4
for case in "$@"; do
  for shift in 0 4; do
    llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=$arch -g -filetype=obj -I "$(dirname "$0")" "$source" -o "$temp.case.o" \
      --defsym CASE=$case --defsym SHIFT=$shift && ld.lld -shared "$temp.case.o" -o "$temp.case.co" || exit 1
    chip=MI300X
    [ $arch = gfx950 ] && chip=MI355X
    atrex-sim run "$temp.case.co" --chip $chip --block ${BLOCK:-64} --raw-kernarg --arg zero:4096 --arg in:"$temp.in" \
      --arg out:4096:"$temp.case.bin" --check $check \
      > "$temp.case.out" 2>&1
    code=$?
    if [ $code = 0 ]; then
      echo "case $case shift $shift: clean"
    elif [ $code = 1 ]; then
      sed -n "1s/^atrex-sim: error: kernel 'test': [a-z]*: /case $case shift $shift: /p" "$temp.case.out"
    else
      echo "case $case shift $shift: exit code $code"
    fi
  done
done
