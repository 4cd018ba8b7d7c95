#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs an example and compares its output with the expected one: run.sh EXPECTED PROGRAM [ARGUMENT…]
set -eu
expected=$1
shift
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
"$@" > "$printed"
diff -u "$expected" "$printed"
