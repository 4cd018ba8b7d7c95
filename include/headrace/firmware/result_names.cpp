// SPDX-License-Identifier: MIT
// Defines the functions of headrace/firmware/result_names.hpp.

#include <headrace/firmware/result_names.hpp>

#include <headrace/io/tosa/names.hpp>
#include <headrace/passes/device/layers.hpp>

namespace headrace::firmware {

namespace {

/// Annotation: the name of a node's result. Layers contain copies of nodes, which inherit it; those of a part
/// of a tensor have another number of elements.
struct result_name {
    static constexpr bool inherited = true;
    std::string_view name;
    headrace::dtype dtype;
    std::int64_t elements;
};

}  // namespace

result_names::result_names(graph& g) {
    tosa_file::unique_names unique;
    static_cast<void>(unique.make("main"));  // the block itself, as the flatbuffer's writer has it
    const tosa_file::tosa_names names(g, unique);
    for (node& n : g.nodes()) {
        const tensor_meta* const meta = n.result_count == 1 ? n.results[0].meta : nullptr;
        if (meta == nullptr || is<builtin::constant>(n)) continue;
        g.annotate(n, result_name{g.own(names.all()[names.index(n, 0)]), meta->dtype, meta->elements()});
        named_.insert(&n);
    }
}

std::string_view result_names::find(const node& n) const {
    const graph* const body = parts_of(n).body;
    if (body == nullptr && !named_.contains(&n)) return {};
    const node& from = body == nullptr ? n : *body->outputs()[0].producer;
    const auto* const found = from.find_annotation<result_name>();
    const tensor_meta* const meta = n.result_count == 1 ? n.results[0].meta : nullptr;
    if (found == nullptr || meta == nullptr) return {};
    return meta->dtype == found->dtype && meta->elements() == found->elements ? found->name : "";
}

}  // namespace headrace::firmware
