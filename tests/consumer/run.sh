#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a project outside the tree with Headrace as an installed package, as a subdirectory and as a single
# header, and, if the compilers are installed, for a Cortex-M and, with Vela, for an NPU: run.sh BUILD
# COMPILER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# quietly COMMAND…: shows the output only if the command fails.
quietly() {
  "$@" > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
}

quietly cmake --install "$1" --prefix "$place/installed"
# A fresh clone has the committed files; add the edits since then.
if git clone -q "$root" "$place/tree" 2> /dev/null; then
  git -C "$root" diff --binary HEAD > "$place/patch"
  if [ -s "$place/patch" ]; then git -C "$place/tree" apply "$place/patch"; fi
else
  mkdir "$place/tree"
  for part in CMakeLists.txt examples include single_include tests; do cp -R "$root/$part" "$place/tree"; done
fi
# The files that a release has in single_include.
rm -r "$place/tree/single_include"
python3 "$place/tree/tests/checks/single_include.py" "$place/tree/single_include"
project="$place/a project"
cp -R "$place/tree/tests/consumer" "$project"

# Each run has its own folder; ccache must recognize files nevertheless.
export CCACHE_BASEDIR="$place"
launcher=
if command -v ccache > /dev/null; then launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

# configure FOLDER OPTION…
configure() {
  folder=$1
  shift
  cmake -S "$project" -B "$place/$folder" -G Ninja $launcher -DMODELS="$place/tree/examples/models" \
    -DNPU="$place/tree/examples/npu" "$@"
}
vela=$(command -v vela || command -v "$root/build/venv/bin/vela" || true)
from_package="-DHEADRACE_FROM=package -Dheadrace_ROOT=$place/installed -DHEADRACE_VELA=$vela"
from_tree="-DHEADRACE_TREE=$place/tree -DHEADRACE_PROGRAM=$place/installed/bin/headrace"

# build FOLDER OPTION…
build() {
  quietly configure "$@" -DCMAKE_CXX_COMPILER="$compiler"
  quietly cmake --build "$place/$1"
  echo "$1: $("$place/$1/consumer"), $("$place/$1/other")"
}
compiler=$2
build package $from_package
"$place/package/compiled"
# The NPU's project with its program, which needs headrace::compiled.
quietly cmake -S "$place/tree/examples/npu" -B "$place/npu" -G Ninja $launcher -Dheadrace_ROOT="$place/installed" \
  -DCMAKE_CXX_COMPILER="$compiler"
quietly cmake --build "$place/npu"
quietly ctest --test-dir "$place/npu" --output-on-failure
echo "npu: $(wc -l "$place"/tree/examples/npu/*.?pp | tail -1 | tr -s ' ')"
build subdirectory -DHEADRACE_FROM=subdirectory $from_tree
build single_header -DHEADRACE_FROM=single_header $from_tree

# refuses WORDS OPTION…: configuring with these options must fail with these words.
refuses() {
  words=$1
  shift
  if configure package "$@" > "$place/log" 2>&1 || ! tr -s ' \n' '  ' < "$place/log" | grep -q "$words"; then
    echo "$* is no error with the words '$words':"
    cat "$place/log"
    exit 1
  fi
}
refuses "two models that are called KWS" -DTWICE=ON
refuses "IO and KERNELS need PTE" -DTWICE=OFF "-DWRONG=IO;int8"
refuses "CORE is for CPP or PTE" "-DWRONG=CORE;cortex-m4"
refuses "IO is int8 or float, not io.json" "-DWRONG=PTE;IO;io.json"
refuses "no component nonsense; there are headrace tosa compiled program" -DWRONG= -DCOMPONENTS=nonsense
refuses "headrace::compiled needs libdeflate 1.3, found by pkg-config" -DCOMPONENTS=compiled \
  -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON

# By pkg-config: the libraries in an order in which each finds those that it needs.
export PKG_CONFIG_PATH="$place/installed/lib/pkgconfig:$place/installed/share/pkgconfig"
quietly "$compiler" -std=c++20 "$project/compiled.cpp" -o "$place/linked" $(pkg-config --cflags --libs headrace-compiled)
echo "pkg-config: $("$place/linked"), cflags of the core: $(pkg-config --cflags headrace | sed 's/-I[^ ]*/-I…/')"
for part in headrace/README.md headrace/copyright headrace/examples/readme.cpp headrace/examples/docs/index.md; do
  test -s "$place/installed/share/doc/$part" || { echo "share/doc/$part is not installed"; exit 1; }
done

if command -v arm-none-eabi-g++ > /dev/null; then
  for from in "-DHEADRACE_FROM=subdirectory $from_tree" "$from_package"; do
    quietly configure cortex-m55 --fresh --toolchain "$place/tree/examples/cmake/cortex-m55.cmake" $from
    quietly cmake --build "$place/cortex-m55"
    echo "cortex-m55: $(arm-none-eabi-nm "$place/cortex-m55/libmodels.a" | grep -c ' R .*_model$') models"
  done
fi
"$place/installed/bin/headrace" --version
