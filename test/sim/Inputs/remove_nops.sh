#!/bin/bash
# remove_nops.sh ASSEMBLY TEMP PATTERN RUN... - for every line of ASSEMBLY that
# matches PATTERN: removes it, builds, runs `atrex-sim run OBJECT RUN... --check
# all` for every RUN (a quoted string) and prints whether one of them has a
# finding: "found", or "missed: TEXT" with the removed line and the one before.
set -u
asm=$1 temp=$2 pattern=$3
shift 3
for line in $(grep -nE "$pattern" "$asm" | cut -d: -f1); do
  sed "${line}d" "$asm" > "$temp.edited.s"
  clang -target amdgcn-amd-amdhsa -mcpu=${ARCH:-gfx942} "$temp.edited.s" -o "$temp.edited.co" || exit 1
  found=0
  for run in "$@"; do
    atrex-sim run "$temp.edited.co" $run --check all > "$temp.edited.out" 2>&1
    grep -qE ": (race|wait|hazard): " "$temp.edited.out" && found=1
  done
  if [ $found = 1 ]; then
    echo found
  else
    echo "missed: $(sed -n ${line}p "$asm") after $(sed -n $((line - 1))p "$asm")" | tr '\t' ' '
  fi
done
