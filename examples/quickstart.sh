#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the program and lowers a real model, a keyword spotter: sh examples/quickstart.sh
set -eu
cd "$(dirname "$0")/.."
sh tests/setup.sh program

echo "Building build/examples/headrace (some minutes the first time) …"
if [ ! -f build/build.ninja ]; then
  cmake -S . -B build -G Ninja -DHEADRACE_TESTS=OFF -DHEADRACE_JOIN_UNITS=ON > build.log 2>&1 ||
    { cat build.log; rm build.log; exit 1; }
  rm -f build.log
fi
cmake --build build --target headrace_program

model=examples/models/kws_dscnn
out=build/quickstart
mkdir -p "$out"
echo
echo "\$ headrace lower $model/model.pt2 -o $out/kws_dscnn.tosa --verify"
build/examples/headrace lower $model/model.pt2 -o $out/kws_dscnn.tosa --io $out/io.json --report $out/report.json
build/examples/headrace lower $model/model.pt2 -o $out/verified.tosa --verify --in $model/in0.npy
python3 examples/quickstart_report.py $out

echo
echo "\$ headrace run $out/kws_dscnn.tosa --in $model/in0.npy --out $out/out0.npy"
build/examples/headrace run $out/kws_dscnn.tosa --in $model/in0.npy --out $out/out0.npy
python3 examples/quickstart_report.py $out $model/out0.npy $out/out0.npy

quantized=examples/models/kws_dscnn_int8
echo
echo "\$ headrace lower $quantized/model.pt2 -o $out/int8/kws_dscnn.tosa     # the same, quantized by PT2E"
mkdir -p "$out/int8"
build/examples/headrace lower $quantized/model.pt2 -o $out/int8/kws_dscnn.tosa --io $out/int8/io.json \
  --report $out/int8/report.json
build/examples/headrace lower $quantized/model.pt2 -o $out/int8/verified.tosa --verify --in $quantized/in0.npy
python3 examples/quickstart_report.py $out/int8
echo
echo "\$ headrace lower $quantized/model.pt2 -o $out/int8/kws_dscnn.tosa --report $out/int8/kws_dscnn.html"
if build/examples/headrace lower -q $quantized/model.pt2 -o $out/int8/kws_dscnn.tosa --report $out/int8/kws_dscnn.html
then
  echo "  the graph after each pass, for a browser: $out/int8/kws_dscnn.html"
fi
