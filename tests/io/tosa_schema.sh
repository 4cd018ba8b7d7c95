#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that include/headrace/io/tosa_generated.hpp is what flatc makes of tosa.fbs; with --write, makes it so.
set -eu
io=$(cd "$(dirname "$0")/../../include/headrace/io" && pwd)
flatc=${FLATC:-/usr/bin/flatc}
# Another flatc writes another header, whose version check then refuses the flatbuffers library: nothing to compare.
case $("$flatc" --version 2>/dev/null) in
    *" 2.0.8") ;;
    *) echo "skipped: needs flatc 2.0.8"; exit 77 ;;
esac
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$flatc" --cpp --scoped-enums --filename-ext hpp -o "$made" "$io/tosa.fbs"
if [ "${1:-}" = --write ]; then
    cp "$made/tosa_generated.hpp" "$io/tosa_generated.hpp"
fi
diff -u "$io/tosa_generated.hpp" "$made/tosa_generated.hpp" && echo "tosa_generated.hpp is current"
