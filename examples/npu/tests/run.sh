#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests npu_opt: run.sh PROGRAM. Texts that it writes are compared with those beside this file.
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# Lowered, each pass executed before and after; what is written reads back, computes and is planned.
"$program" lower "$here/block.hr" --verify -o "$place/lowered.hr"
diff -u "$here/lowered.hr" "$place/lowered.hr"
"$program" run "$here/block.hr" > "$place/before"
"$program" run "$place/lowered.hr" > "$place/after"
diff -u "$place/before" "$place/after"
"$program" plan "$place/lowered.hr" --verify | head -1

# The graph on its way, as text: before the passes, and after each that changed it, or around one.
"$program" lower "$here/block.hr" --ir "$place/ir" -o "$place/again.hr"
test "$(ls "$place/ir" | grep -c '\.hr$')" -eq 4
for text in "$place/ir"/*.hr; do "$program" show "$text" > "$place/last"; done
"$program" show "$place/again.hr" | diff -u - "$place/last"
"$program" lower "$here/block.hr" --ir "$place/around" --ir-around fold_affine -o "$place/again.hr"
test "$(ls "$place/around" | grep '\.hr$' | tr '\n' ' ')" = "001_select_ops.hr 002_fold_affine.hr "

# Every node that the machine cannot compute is named.
status=0
"$program" lower "$here/refused.hr" 2> "$place/errors" || status=$?
test $status -eq 1
diff -u "$here/refused.txt" "$place/errors"

# The verifier is asked for what is read.
cat > "$place/broken.hr" << 'END'
headrace 1
%x: float32[1, 2, 9, 9] = input
%w: float32[2, 2, 1, 1] = constant [1.0, -0.5, 0.25, 2.0]
%b: float32[2] = constant [0.5, -1.0]
%y: ? = npu.conv2d(%x, %w, %b, stride=[4, 4])
output %y
END
status=0
"$program" show "$place/broken.hr" 2> "$place/errors" || status=$?
test $status -eq 3
grep -q 'npu.conv2d): strides are at most 3' "$place/errors"
