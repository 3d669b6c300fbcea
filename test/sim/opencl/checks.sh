#!/bin/bash
# checks.sh SOURCE TEMP ARCH LEVEL - compiles SOURCE and runs its kernels with
# checks on TEMP.in; prints the first finding of each and how many have none.
source=$1 temp=$2 arch=$3 level=$4 silent=0
clang -x cl -cl-std=CL2.0 $level -w -target amdgcn-amd-amdhsa -mcpu=$arch -nogpulib "$source" -o "$temp.co" || exit 1
chip=MI300X
[ $arch = gfx950 ] && chip=MI355X
for name in $(sed -n 's/^KERNEL(\([a-z0-9_]*\)).*/\1/p' "$source" | grep -v '^histogram$'); do
  if atrex-sim run "$temp.co" --chip $chip --kernel $name --grid 2 --block 256 --arg in:"$temp.in" \
    --arg out:16384:"$temp.out" --check oob,uninit,race,wait,hazard > "$temp.log" 2>&1; then
    silent=$((silent + 1))
  else
    head -n 1 "$temp.log"
  fi
done
echo "$silent kernels are silent"
