#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# schema.sh NAME: checks that NAME_generated.hpp in include/headrace/io/{etdump,pte,tosa} is flatc's output for the NAME.fbs
# beside it; schema.sh NAME --write writes it.
set -eu
schema=$1
io=$(dirname "$(ls "$(dirname "$0")"/../../include/headrace/io/*/"$schema".fbs)")
flatc=${FLATC:-/usr/bin/flatc}
# Another version of flatc writes another header, whose version check would refuse the flatbuffers library:
# skip.
case $("$flatc" --version 2>/dev/null) in
    *" 2.0.8") ;;
    *) echo "skipped: needs flatc 2.0.8"; exit 77 ;;
esac
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$flatc" --cpp --scoped-enums --filename-ext hpp -o "$made" "$io/$schema.fbs"
if [ "${2:-}" = --write ]; then
    cp "$made/${schema}_generated.hpp" "$io/${schema}_generated.hpp"
fi
diff -u "$io/${schema}_generated.hpp" "$made/${schema}_generated.hpp" && echo "${schema}_generated.hpp is current"
