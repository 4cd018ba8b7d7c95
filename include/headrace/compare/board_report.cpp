// SPDX-License-Identifier: MIT
// Defines headrace::board_json.

#include <headrace/compare/board_comparison.hpp>
#include <headrace/io/file/json_writer.hpp>

namespace headrace {

std::string board_json(const board_comparison& c) {
    json_writer w;
    w.begin_object();
    const board_layer* const first = c.first();
    w.key("first");
    first == nullptr ? w.value(nullptr) : w.value(first->name);
    w.member("differing", c.differing());
    w.member("not_dumped", c.not_dumped);
    w.begin_array("layers");
    for (const board_layer& l : c.layers) {
        w.begin_object();
        w.member("name", l.name);
        w.member("op", l.op);
        if (!l.source.empty()) w.member("source", l.source);
        w.member("dtype", name_of(l.type));
        w.member("shape", l.shape);
        w.member("elements", l.elements);
        w.member("differing", l.differing);
        if (l.differing != 0) {
            w.member("largest", l.largest);
            w.member("first", l.first);
            w.member("expected", l.expected);
            w.member("got", l.got);
            w.member("kind", l.kind);
            w.member("own", l.own);
        }
        w.end_object();
    }
    w.end_array();
    w.end_object();
    return std::move(w).text() + "\n";
}

}  // namespace headrace
