#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds for other systems with clang 22 and libc++ (`ziglang` of PyPI), runs what can be run here, and compiles models for
# Cortex-M with newer compilers. Prints a table; exit status 1 if anything in it failed. Logs: build/portability/*/logs.
#
#     tests/portability.sh [TARGET…]      default: all of `targets` below, and cortex-m
#
# Needs Debian 12 on x86-64, `sh tests/setup.sh`, a build in build/ (its program writes what others are compared with),
# and the network, for sources of libraries from Debian. PORTABILITY_FLAGS are the compiler's; default: -O0.
# With -mlong-double-64, Linux's tests run with the wide_float of systems whose long double has 53 bits.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
work=$root/build/portability
native=$root/build/examples/headrace
declared=$root/build/include/headrace/passes/declared_passes.hpp
model=$root/examples/models/kws_dscnn/model.pt2
int8_model=$root/examples/models/kws_dscnn_int8/model.pt2
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow"
# Boost 1.74 takes unary_function from the standard library, where clang 22 has none.
flags="${PORTABILITY_FLAGS:--O0} -DBOOST_NO_CXX98_FUNCTION_BASE"
core_tests="base op dialect ir infer target rewrite pass match memory partition"
targets="x86_64-linux-gnu.2.34 aarch64-linux-gnu.2.34 x86_64-macos aarch64-macos x86_64-windows-gnu"
wanted=${*:-$targets cortex-m}
export WINEPREFIX="$work/wine" WINEDEBUG=-all
[ -x "$native" ] && [ -f "$declared" ] || { echo "build in build/ first: cmake --build build --target headrace_program"; exit 1; }
. tests/portability/dependencies.sh
. tests/portability/cortex_m.sh
mkdir -p "$work/sources"
tools > "$work/tools.log" 2>&1 || { echo "no tools: see $work/tools.log"; exit 1; }

# quiet LOG COMMAND…: `ok`, or `FAILED` if the command fails or prints a warning; what it prints goes to the log.
quiet() {
  log=$folder/logs/$1.log
  shift
  if "$@" > "$log" 2>&1 && ! grep -q "warning:" "$log"; then echo ok; else echo FAILED; fi
}

# Compiled from the headers alone, as a user's unit is.
core() {
  for header in tests/checks/core.cpp tests/firmware/standard_pipeline.cpp; do
    "$folder/bin/CXX" -std=c++20 $flags $warnings -Werror -isystem "$folder/include" -I include -fsyntax-only $header || return 1
  done
}

configure() {
  emulator=$(echo "$runner" | tr ' ' ';')
  cross_cmake "$root" "$folder/build" -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=$flags" -DCMAKE_EXE_LINKER_FLAGS=-s -DHEADRACE_JOIN_UNITS=ON \
    -DHEADRACE_TESTS=ON -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
    -DHEADRACE_DECLARED_PASSES="$declared" -DHEADRACE_PROGRAM="$native" \
    -DHEADRACE_D3=/usr/share/javascript/d3/d3.min.js -DHEADRACE_DAGRE=/usr/share/nodejs/dagre/dist/dagre.min.js ${emulator:+"-DCMAKE_CROSSCOMPILING_EMULATOR=$emulator"}
}

build() { cmake --build "$folder/build" --target "$@" -- -k 0; }

run_core_tests() {
  build $(printf 'test_%s ' $core_tests) &&
    ctest --test-dir "$folder/build" --output-on-failure -R "^($(echo $core_tests | tr ' ' '|'))\$"
}

# The program must write the bytes that the program of this machine writes.
same_bytes() {
  mkdir -p "$folder/native" "$folder/cross"
  for made in $model $int8_model; do
    for form in tosa pte hpp; do
      core=
      if [ $form = hpp ]; then core="--core cortex-m4"; fi
      "$native" lower "$made" -o "$folder/native/kws.$form" $core --quiet &&
        $runner "$folder/build/examples/headrace$suffix" lower "$made" -o "$folder/cross/kws.$form" $core --quiet &&
        cmp "$folder/native/kws.$form" "$folder/cross/kws.$form" || return 1
    done
  done
}

# A wheel of the program, and of the functions that call it.
wheel() {
  rm -rf "$folder/dist"
  "$work/venv/bin/python" examples/python/build_wheel.py "$folder/build/examples/headrace$suffix" "$folder/dist" $platform &&
    ls "$folder"/dist/*.whl
}

row() { printf '%-24s %-8s %-8s %-8s %-8s %-8s %s\n' "$@"; }

portable() {
  target=$1
  folder=$work/$target
  mkdir -p "$folder/logs"
  suffix= runner= platform=
  case $target in
    x86_64-linux*) system=Linux processor=x86_64 platform=manylinux_2_34_x86_64 ;;
    aarch64-linux*) system=Linux processor=aarch64 runner="qemu-aarch64 -L /usr/aarch64-linux-gnu" platform=manylinux_2_34_aarch64 ;;
    x86_64-macos) system=Darwin processor=x86_64 platform=macosx_13_0_x86_64 ;;
    aarch64-macos) system=Darwin processor=arm64 platform=macosx_13_0_arm64 ;;
    x86_64-windows*) system=Windows processor=x86_64 runner=wine suffix=.exe platform=win_amd64 ;;
  esac
  dependencies > "$folder/logs/dependencies.log" 2>&1 || { row "$target" "no dependencies: $folder/logs"; return; }
  headers=$(quiet core core)
  product=$(quiet configure configure)
  if [ "$product" = ok ]; then product=$(quiet product build headrace_reduce headrace_firmware); fi
  program=$(quiet program build headrace_program)
  tests=- bytes=- packed=-
  if [ $system != Darwin ] && [ "$program" = ok ]; then
    tests=$(quiet tests run_core_tests)
    bytes=$(quiet bytes same_bytes)
  fi
  if [ "$program" = ok ]; then packed=$(quiet wheel wheel); fi
  row "$target" "$headers" "$product" "$program" "$tests" "$bytes" "$packed"
}

{
  row target core product program "tests" "bytes" wheel
  for name in $wanted; do
    if [ "$name" = cortex-m ]; then cortex_m; else portable "$name"; fi
  done
} | tee "$work/table.txt"
! grep -qE "FAILED|no dependencies" "$work/table.txt"
