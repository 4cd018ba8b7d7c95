#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that include/headrace/io/pte_generated.hpp is what flatc makes of pte.fbs; with --write, makes it so.
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
"$flatc" --cpp --scoped-enums --filename-ext hpp -o "$made" "$io/pte.fbs"
if [ "${1:-}" = --write ]; then
    cp "$made/pte_generated.hpp" "$io/pte_generated.hpp"
fi
diff -u "$io/pte_generated.hpp" "$made/pte_generated.hpp" && echo "pte_generated.hpp is current"
