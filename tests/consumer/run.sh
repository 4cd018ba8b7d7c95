#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs a build and builds a project against what was installed: run.sh BUILD COMPILER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$1" --prefix "$place/installed" > "$place/log" || { cat "$place/log"; exit 1; }
cp "$here/CMakeLists.txt" "$here/main.cpp" "$place"
launcher=
if command -v ccache > /dev/null; then launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
cmake -S "$place" -B "$place/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="$2" $launcher \
  -DCMAKE_PREFIX_PATH="$place/installed" > "$place/log" || { cat "$place/log"; exit 1; }
cmake --build "$place/build" || exit 1
"$place/build/consumer"
"$place/installed/bin/headrace" --version
