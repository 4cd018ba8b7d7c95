#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the program's multithreaded commands under ThreadSanitizer: `lower --batch`, `quantize` and `compare`.
#
#     threads.sh [FOLDER]     models to lower; by default the examples' and the tests' own
#
# The build is in build/threads. Takes minutes at first. Exit status 1 if there is a race.
set -eu
cd "$(dirname "$0")/../.."
build=$PWD/build/threads
models=${1:-}
mkdir -p "$build"

cmake -S . -B "$build/headrace" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER=clang++-16 \
  -DCMAKE_CXX_FLAGS="-O1 -g1 -fsanitize=thread" -DHEADRACE_TESTS=OFF
cmake --build "$build/headrace" --target headrace_program
headrace=$build/headrace/examples/headrace

if [ -z "$models" ]; then
  models=$build/models
  mkdir -p "$models"
  for round in 1 2 3; do
    for model in examples/models/*/model.pt2 tests/fixtures/*/model.pt2; do
      cp "$model" "$models/$(basename "$(dirname "$model")")_$round.pt2"
    done
  done
fi

# watched LOG COMMAND…: a race ends the script. Some models cannot be lowered, which does not matter here.
export TSAN_OPTIONS=halt_on_error=1:exitcode=66
watched() {
  log=$1
  status=0
  shift
  "$@" > "$log" 2>&1 || status=$?
  if [ $status -eq 66 ] || [ $status -gt 128 ] || grep -q "WARNING: ThreadSanitizer" "$log"; then
    echo "$*: exit status $status"
    cat "$log"
    exit 1
  fi
}

for threads in 2 8; do
  watched "$build/batch.log" "$headrace" lower --batch "$models" -o "$build/out" -j $threads --verify \
    --report "$build/report.json"
  tail -1 "$build/batch.log"
done

# Samples are executed in parallel, and so are the trials of --best.
quantized=0
for folder in examples/models/kws_dscnn tests/fixtures/attention tests/fixtures/conv_bn_relu \
  tests/fixtures/depthwise_residual tests/fixtures/upsample_concat; do
  rm -rf "$build/samples"
  mkdir -p "$build/samples"
  for sample in 1 2 3 4 5 6 7 8; do cp "$folder/in0.npy" "$build/samples/$sample.npy"; done
  for options in "--equalize --smooth --correct-biases" "--best 5" "--int16-share 0.3 --observer mse"; do
    # shellcheck disable=SC2086 # several options
    watched "$build/quantize.log" "$headrace" quantize "$folder/model.pt2" --samples "$build/samples" \
      -o "$build/int8.pt2" -j 8 $options
    [ $status -eq 0 ] || { cat "$build/quantize.log"; exit 1; }
    watched "$build/compare.log" "$headrace" compare "$folder/model.pt2" "$build/int8.pt2" --in "$build/samples" -j 8
    [ $status -eq 0 ] || { cat "$build/compare.log"; exit 1; }
    quantized=$((quantized + 1))
  done
done
echo "$quantized times quantized and compared"
echo "no races"
