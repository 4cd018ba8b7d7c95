// SPDX-License-Identifier: MIT
// Defines headrace::ensure_distinct_outputs.
#ifndef HEADRACE_PASSES_FINISH_ENSURE_DISTINCT_OUTPUTS_HPP
#define HEADRACE_PASSES_FINISH_ENSURE_DISTINCT_OUTPUTS_HPP

#include <cstddef>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Makes outputs distinct, as a TOSA block requires (TOSA 1.0, 2.13.2).
struct ensure_distinct_outputs : pass {
    using runs_after = pass_list<tosa_only>;
    using ensures = pass_list<distinct_outputs>;
    using invalidates = pass_list<nodes_sorted>;
    static constexpr std::string_view summary =
        "copies outputs that are inputs, constants or listed twice, with IDENTITY";

    using produces = ops<tosa::identity>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        return sum_over_graphs(g, [&](graph& sub) { return separate(sub, context); });
    }

private:
    static std::size_t separate(graph& g, pass_context& context) {
        node* out = g.output();
        if (out == nullptr) return 0;
        std::size_t added = 0;
        emission made(g, out, out, context);
        emit<produces> e(made);
        std::span<edge> outputs(out->operands, out->operand_count);
        for (std::size_t i = 0; i != outputs.size(); ++i) {
            const value v = *outputs[i].slot;
            bool shared = is<builtin::placeholder>(*v.producer) || is<builtin::constant>(*v.producer);
            for (std::size_t k = 0; k != i; ++k) shared = shared || *outputs[k].slot == v;
            if (!shared || meta_of(v) == nullptr) continue;
            const value own = e.make<tosa::identity>(v);
            if (!own) continue;
            g.inherit_annotations(*own.producer, *v.producer);
            g.set_operand(outputs[i], own);
            ++added;
        }
        if (added != 0) name_apart(g, *out);
        return added;
    }
    // A value listed twice may have one name; two values may not share one.
    static void name_apart(graph& g, node& out) {
        const auto* exported = out.find_annotation<output_names>();
        if (exported == nullptr) return;
        std::pmr::unordered_set<std::string_view> used(exported->names.begin(), exported->names.end());
        std::pmr::unordered_set<std::string_view> given;
        pmr_vector<std::string_view> names(exported->names.begin(), exported->names.end());
        bool changed = false;
        for (std::string_view& name : names) {
            if (name.empty() || given.insert(name).second) continue;
            std::pmr::string numbered;
            std::size_t count = 0;
            do numbered = text_of({name, "_", ++count});
            while (used.contains(numbered));
            name = g.own(numbered);
            used.insert(name);
            given.insert(name);
            changed = true;
        }
        if (changed) g.annotate(out, output_names{g.own(list<std::string_view>(names))});
    }
};
HEADRACE_COMPILED_PASS(ensure_distinct_outputs);

}  // namespace headrace

#endif
