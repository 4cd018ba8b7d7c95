#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs `headrace lower --batch` under ThreadSanitizer, with a oneTBB that is instrumented as well: without that each
# handing over from one thread to another would look like a race.
#
#     threads.sh [FOLDER]     models to lower; by default the examples' and the tests' own
#
# oneTBB's source is Debian's. Builds are in build/threads. Takes minutes at first. Exit status 1 if there is a race.
set -eu
cd "$(dirname "$0")/../.."
build=$PWD/build/threads
models=${1:-}
mkdir -p "$build/sources.d" "$build/lists/partial"

if [ ! -e "$build/tbb/done" ]; then
  # Where this machine has its packages from, there is their source.
  new=/etc/apt/sources.list.d/debian.sources
  old=/etc/apt/sources.list
  [ ! -e $new ] || sed 's/^Types: deb$/Types: deb-src/' $new > "$build/sources.d/source.sources"
  [ ! -e $old ] || sed 's/^deb /deb-src /' $old > "$build/sources.d/source.list"
  apt="apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$build/sources.d -o Dir::State::lists=$build/lists"
  $apt update
  (cd "$build" && $apt source --download-only onetbb && mkdir -p source && tar -xf onetbb_*.orig.tar.xz -C source --strip-components=1)
  cmake -S "$build/source" -B "$build/tbb" -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DCMAKE_C_COMPILER=clang-16 \
    -DTBB_SANITIZE=thread -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF
  cmake --build "$build/tbb"
  cmake --install "$build/tbb" --prefix "$build/tbb/installed"  # only what is installed has a TBBTargets.cmake
  touch "$build/tbb/done"
fi

cmake -S . -B "$build/headrace" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER=clang++-16 \
  -DCMAKE_CXX_FLAGS="-O1 -g1 -fsanitize=thread" -DTBB_DIR="$build/tbb/installed/lib/cmake/TBB" -DHEADRACE_TESTS=OFF
cmake --build "$build/headrace" --target headrace_program

if [ -z "$models" ]; then
  models=$build/models
  mkdir -p "$models"
  for round in 1 2 3; do
    for model in examples/models/*/model.pt2 tests/fixtures/*/model.pt2; do
      cp "$model" "$models/$(basename "$(dirname "$model")")_$round.pt2"
    done
  done
fi
export TSAN_OPTIONS=halt_on_error=1:exitcode=66
for threads in 2 8; do
  status=0
  "$build/headrace/examples/headrace" lower --batch "$models" -o "$build/out" -j $threads \
    --report "$build/report.json" > "$build/batch.log" 2>&1 || status=$?
  grep -q "WARNING: ThreadSanitizer" "$build/batch.log" && status=66
  if [ $status -eq 66 ]; then
    cat "$build/batch.log"
    exit 1
  fi
  tail -1 "$build/batch.log"
done
echo "no races"
