#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds everything and runs all tests: with g++ as Release, then with clang++-16 under ASan and UBSan, the slow ones
# left out. While the tests of g++'s build run, clang's is built with what they leave of the processors. Exit status 1
# if anything fails. Logs are in build/logs.
set -u
cd "$(dirname "$0")/.."
sh tests/setup.sh || exit 1
logs=build/logs
mkdir -p $logs
rm -f $logs/*.ended
began=$(date +%s)

# step NAME COMMAND…: runs it, keeps what it prints, and notes how it ended.
step() {
  name=$1
  shift
  from=$(date +%s)
  echo "== $name"
  if "$@" > "$logs/$name.log" 2>&1; then
    verdict=ok
  else
    verdict=FAILED
    echo "== $name failed:"
    grep -E "error:|FAILED|\*\*\*|% tests passed|Test +#" "$logs/$name.log" | grep -v Passed | tail -40
  fi
  tests=$(grep -oE "[0-9]+% tests passed, .*" "$logs/$name.log" | tail -1)
  printf '%-16s %-7s %4d s  %s\n' "$name" "$verdict" $(($(date +%s) - from)) "$tests" > "$logs/$name.ended"
}

# UBSan needs clang: g++ 12 takes some constant expressions for none when it is on.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
step configure cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEADRACE_TESTS=ON -DHEADRACE_EXAMPLES=ON \
  -DHEADRACE_JOIN_UNITS=ON
step build cmake --build build -- -k 0
step test ctest --test-dir build -j2 --output-on-failure &
steps="configure build test"
# Programs with sanitizers are large: lld links them in a fifth of the time.
linker=
if command -v ld.lld > /dev/null; then linker=-fuse-ld=lld; fi
if command -v clang++-16 > /dev/null; then
  step clang_configure cmake -S . -B build/clang -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 \
    -DCMAKE_CXX_COMPILER=clang++-16 -DHEADRACE_SANITIZE=ON -DHEADRACE_JOIN_UNITS=ON \
    -DHEADRACE_DECLARED_PASSES="$PWD/build/include/headrace/passes/declared_passes.hpp" \
    -DCMAKE_EXE_LINKER_FLAGS="$linker"
  step clang_build nice -n 5 cmake --build build/clang -- -k 0
  wait
  step clang_test ctest --test-dir build/clang -j2 --output-on-failure -LE "slow|source"
  steps="$steps clang_configure clang_build clang_test"
fi
wait

for name in $steps; do cat "$logs/$name.ended"; done
umbrella=$(bash -c 'TIMEFORMAT=%U; time g++ -std=c++20 -fsyntax-only -I include tests/checks/core.cpp' 2>&1)
echo "umbrella header alone, g++ -fsyntax-only: $umbrella s of CPU"
echo "all: $(($(date +%s) - began)) s"
# A step that failed, or did not come to its end.
for name in $steps; do grep -q "^$name  *ok " "$logs/$name.ended" || exit 1; done
