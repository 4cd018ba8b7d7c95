// SPDX-License-Identifier: MIT
// Defines headrace::annotation, user metadata of a node, and the annotations that readers of exports attach.
#ifndef HEADRACE_IR_ANNOTATION_HPP
#define HEADRACE_IR_ANNOTATION_HPP

#include <string_view>

namespace headrace {

/// User metadata of a node: a value of any trivially copyable type, found by that type. Nodes with a common
/// origin share their inherited annotations; the first of a type counts.
struct annotation {
    const void* key;
    const void* data;
    bool inherited;  ///< copied to nodes that replace this one
    annotation* next;
};

template <class T>
inline constexpr char annotation_key = 0;

/// Returns the annotation of that type in a node's list, or null.
template <class T>
[[nodiscard]] const T* find_in(const annotation* annotations) {
    for (const annotation* a = annotations; a != nullptr; a = a->next) {
        if (a->key == &annotation_key<T>) return static_cast<const T*>(a->data);
    }
    return nullptr;
}

/// Annotation: the exported node that a node descends from, for every message about it.
struct provenance {
    static constexpr bool inherited = true;
    std::string_view node_name;
    std::string_view op_name;
};

/// Annotation: a further exported node that a node descends from, after a rewrite of several nodes into one;
/// see for_each_origin in ir/origins.hpp.
struct joined_origin {
    static constexpr bool inherited = true;
    const annotation* annotations;  ///< of the joined node, including its own joined origins
    const joined_origin* next;
};

/// Annotation: the `custom` metadata of a `.pt2` node, JSON text as the exporter wrote it.
struct custom_metadata {
    static constexpr bool inherited = true;
    std::string_view json;
};

/// Annotation: the `nn_module_stack` metadata of a `.pt2` node, as the exporter wrote it.
struct module_stack {
    static constexpr bool inherited = true;
    std::string_view text;
};

}  // namespace headrace

#endif
