#!/bin/sh
# exit-code.sh N COMMAND...: succeeds if COMMAND ends with exit code N.
wanted=$1
shift
"$@" >/dev/null 2>&1
got=$?
[ "$got" -eq "$wanted" ] || { echo "exit code $got, wanted $wanted: $*" >&2; exit 1; }
