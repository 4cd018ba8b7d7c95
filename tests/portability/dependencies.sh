# SPDX-License-Identifier: MIT
# Functions of portability.sh: the compiler, and the libraries that the program needs, for another system. The sources of
# libraries are those of Debian 12; libraries that are headers are Debian's own, by links.

zig_version=0.17.1
zig=$work/venv/lib/python3/ziglang/zig
sources=$work/sources

# apt_of NAME WORDS…: apt-get, or what WORDS begins with, over one list of packages that this system need not use.
apt_of() {
  list=$work/$1
  mkdir -p "$list/lists/partial" "$list/cache/archives/partial"
  tool=$2
  shift 2
  $tool -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$list/parts" -o Dir::State::lists="$list/lists" \
    -o Dir::Cache="$list/cache" -o APT::Sandbox::User=root "$@"
}

# debian_list NAME TYPE SUITE: writes such a list and fetches it.
debian_list() {
  mkdir -p "$work/$1/parts"
  printf '%s\n' "Types: $2" "URIs: http://deb.debian.org/debian" "Suites: $3" "Components: main" \
    "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" > "$work/$1/parts/debian.sources"
  apt_of "$1" apt-get update
}

# The compiler and the sources, once.
tools() {
  if [ ! -x "$zig" ]; then
    python3 -m venv "$work/venv" &&
      "$work/venv/bin/pip" install -q ziglang==$zig_version scikit-build-core==1.1.2 wheel==0.45.1 || return 1
    ln -sfn "$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" "$work/venv/lib/python3"
  fi
  if ! command -v qemu-aarch64 || [ ! -e /usr/aarch64-linux-gnu ] || ! command -v wine; then
    $(if [ "$(id -u)" != 0 ]; then echo sudo; fi) apt-get install -y -qq --no-install-recommends qemu-user libc6-arm64-cross \
      wine wine64 || return 1
  fi
  if [ ! -e "$sources/.complete" ]; then
    debian_list source deb-src bookworm || return 1
    (cd "$sources" && apt_of source apt-get source libdeflate simdjson fmtlib) || return 1
    touch "$sources/.complete"
  fi
}

# compiler NAME COMMAND FILE: writes a compiler that compiles as `zig COMMAND` does, but by clang itself, with which
# precompiled headers and ccache work, and lets zig link.
compiler() {
  cache=$(mktemp -d)
  clang_flags=$(cd "$cache" && ZIG_VERBOSE_CC=1 ZIG_LOCAL_CACHE_DIR=$cache ZIG_GLOBAL_CACHE_DIR=$cache \
    "$zig" "$2" -target "$target" -O0 -fno-sanitize=undefined -c "$3" -o "$cache/empty.o" 2>&1 |
    sed -nE '/ clang .*--no-default-config /{s/.* (--no-default-config )/\1/;s/ -MD -MV -MF [^ ]+//
      s/ -g(dwarf-4|dwarf32|codeview)? / /g;s/ -g(dwarf-4|dwarf32|codeview)? / /g;s/ -O0//;s/ -Xclang -target-feature -Xclang -[^ ]+//g;s/ (-c )?-o .*//;p;q}')
  rm -rf "$cache"
  [ -n "$clang_flags" ] || return 1
  cat > "$folder/bin/$1.new" <<END
#!/bin/sh
case " \$* " in
  *" -c "* | *" -E "* | *" -fsyntax-only "*) exec $zig clang $clang_flags "\$@" ;;
  *) exec $zig $2 -target $target -fno-sanitize=undefined "\$@" ;;
esac
END
  cmp -s "$folder/bin/$1" "$folder/bin/$1.new" || cp "$folder/bin/$1.new" "$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}

# headers PACKAGE VERSION TARGET [FOLDER]: what CMake finds of a library that consists of headers.
headers() {
  mkdir -p "$folder/lib/cmake/$1"
  printf 'add_library(%s INTERFACE IMPORTED)\ntarget_include_directories(%s INTERFACE %s)\n' "$3" "$3" \
    "$folder/include/${4:-}" > "$folder/lib/cmake/$1/$1Config.cmake"
  printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE ON)\n' "$2" > "$folder/lib/cmake/$1/$1ConfigVersion.cmake"
}

cross_cmake() {
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/tests/portability/zig.cmake" -DPORTABILITY_FOLDER="$folder" \
    -DPORTABILITY_SYSTEM="$system" -DPORTABILITY_PROCESSOR="$processor" "$@"
}

# library NAME SOURCE OPTION…: builds and installs a static library into the folder of the target.
library() {
  [ ! -e "$folder/lib/.$1" ] || return 0
  name=$1 from=$2
  shift 2
  cross_cmake "$from" "$folder/libraries/$name" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder" \
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@" &&
    cmake --build "$folder/libraries/$name" --target install && touch "$folder/lib/.$name"
}

dependencies() {
  mkdir -p "$folder/bin" "$folder/include" "$folder/lib/cmake"
  : > "$folder/empty.c"
  : > "$folder/empty.cpp"
  compiler C cc "$folder/empty.c" && compiler CXX c++ "$folder/empty.cpp" || return 1
  for tool in ar ranlib rc; do
    name=$(echo $tool | tr '[:lower:]' '[:upper:]')
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$zig" $tool > "$folder/bin/$name"
    chmod +x "$folder/bin/$name"
  done
  for name in boost range meta concepts std CLI nlohmann catch2 flatbuffers eigen3 xxhash.h; do
    ln -sfn /usr/include/$name "$folder/include/$name"
  done
  headers FlatBuffers 2.0.8 flatbuffers::flatbuffers
  headers range-v3 0.12 range-v3::range-v3
  headers Catch2 2.13 Catch2::Catch2
  # clang 22 takes __COUNTER__, with which Catch2 names tests, for an extension; Boost.Hana 1.74 needs old traits.
  echo "target_compile_definitions(Catch2::Catch2 INTERFACE CATCH_CONFIG_NO_COUNTER
    _LIBCPP_ENABLE_CXX20_REMOVED_TYPE_TRAITS)" \
    >> "$folder/lib/cmake/Catch2/Catch2Config.cmake"
  headers nlohmann_json 3.11 nlohmann_json::nlohmann_json
  headers Eigen3 3.4 Eigen3::Eigen eigen3
  library archives "$root/tests/portability" -DPORTABILITY_SOURCES="$sources" &&
    library simdjson "$sources"/simdjson-*/ &&
    library fmt "$sources"/fmtlib-*/ -DFMT_TEST=OFF -DFMT_DOC=OFF
}
