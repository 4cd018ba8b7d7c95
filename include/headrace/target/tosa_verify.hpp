// SPDX-License-Identifier: MIT
// Defines headrace::verify_tosa, which tells whether a target takes a TOSA node and, if not, why.
#ifndef HEADRACE_TARGET_TOSA_VERIFY_HPP
#define HEADRACE_TARGET_TOSA_VERIFY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/target/node_facts.hpp>
#include <headrace/target/tosa_legality.hpp>
#include <headrace/target/tosa_rules.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

namespace detail {

/// Returns "(int8, int8)".
[[nodiscard]] inline std::pmr::string signature_text(std::span<const dtype> types) {
    std::pmr::string all = "(";
    for (const dtype t : types) {
        if (all.size() != 1) all += ", ";
        all += name_of(t);
    }
    return all += ')';
}

/// Returns the features that a row requires: "INT or FP", "FP and bf16".
[[nodiscard]] inline std::pmr::string features_text(std::uint16_t profiles, std::uint16_t extensions) {
    std::pmr::string text;
    for (const target_feature_name& f : target_feature_names) {
        const auto bit = static_cast<std::uint16_t>(f.feature);
        if ((profiles & bit) != 0) text += (text.empty() ? "" : " or ") + std::pmr::string(f.spelling);
    }
    std::pmr::string added;
    for (const target_feature_name& f : target_feature_names) {
        const auto bit = static_cast<std::uint16_t>(f.feature);
        if ((extensions & bit) == 0) continue;
        text += (text.empty() ? "" : " and ") + std::pmr::string(f.spelling);
        added += "+" + std::pmr::string(f.spelling);
    }
    if (!added.empty()) text += "; add " + added + " to it";
    return text;
}

[[nodiscard]] inline result<void> verify_tosa_types(
    const node& n, const op_facts& facts, const target_spec& target) {
    const type_fault fault = type_fault_of(facts, target);
    const auto signature = [&] { return signature_text(tosa_signature(facts).types()); };
    switch (fault.limit) {
        case type_limit::none:
            return {};
        case type_limit::control_flow:
            return unsupported({message_prefix(n), "control flow needs the target to have cf"});
        case type_limit::types:
            return unsupported(
                {message_prefix(n), "TOSA 1.0 has no ", n.op->name.substr(5), " of ", signature()});
        case type_limit::profile:
            return unsupported({message_prefix(n), signature(), " needs the target to have ",
                features_text(fault.row->profiles, fault.row->extensions)});
        case type_limit::computed_operand:
            return unsupported({message_prefix(n), fault.operand, " must be a constant"});
    }
    return {};
}

/// Refuses zero points and signs that values of these types cannot have.
[[nodiscard]] inline result<void> verify_tosa_integers(const node& n, const op_facts& facts) {
    if (const zero_fault fault = zero_fault_of(facts)) {
        return unsupported({message_prefix(n), fault.operand, " is ", fault.zero, ", but values of ",
            name_of(fault.type), " have the zero point 0 in TOSA; only int8 has others"});
    }
    const dtype type = sign_fault_of(facts);
    if (type == dtype::unknown) return {};
    return unsupported(
        {message_prefix(n), "RESCALE takes unsigned integers neither from nor to ", name_of(type)});
}

/// Refuses sizes above level 8K's limits.
[[nodiscard]] inline result<void> verify_tosa_level(const node& n, const op_facts& facts) {
    const level_fault fault = level_fault_of(facts);
    if (!fault) return {};
    if (fault.limit == level_limit::empty_tensor) {
        return unsupported(
            {message_prefix(n), "TOSA has no empty tensors, such as ", shape_text(fault.tensor->shape)});
    }
    return unsupported({message_prefix(n), name_of(fault.limit), ' ', fault.size,
        " is above level 8K's limit of ", fault.max});
}

/// Returns why the target has no tensors of that type; empty if it has.
[[nodiscard]] inline std::pmr::string missing_type_text(dtype type, const target_spec& target) {
    const tosa::legality_row* row = tosa::find_row(info_of<tosa::const_>, std::span(&type, 1));
    if (row == nullptr) return " does not exist in TOSA 1.0";
    if (row->allowed_on(target)) return {};
    return text_of({" needs the target to have ", features_text(row->profiles, row->extensions)});
}

/// Checks an input's rank and type. An input is a tensor of the flatbuffer even if no operator reads it; the
/// operators that do are checked against the target.
[[nodiscard]] inline result<void> verify_tosa_input(const node& n) {
    const tensor_meta& meta = *n.results[0].meta;
    const auto rank = static_cast<std::int64_t>(meta.rank());
    if (rank > tosa::level_8k::max_rank) {
        return unsupported({message_prefix(n), "an input of rank ", rank, " is above level 8K's limit of ",
            tosa::level_8k::max_rank});
    }
    if (tosa::find_row(info_of<tosa::const_>, std::span(&meta.dtype, 1)) != nullptr) return {};
    return unsupported(
        {message_prefix(n), "an input of ", name_of(meta.dtype), ", which TOSA 1.0 does not have"});
}

[[nodiscard]] inline result<void> verify_tosa_shapes(const node& n) {
    const inference_rule rule = find_rule<tosa::dialect>(*n.op);
    if (rule == nullptr) return {};
    std::array<std::byte, 1024> room;
    std::pmr::monotonic_buffer_resource arena(room.data(), room.size());
    inference out(&arena);
    if (auto inferred = rule(n.arguments, out); !inferred) {
        return error{inferred.error().kind, message_prefix(n) + inferred.error().message};
    }
    if (out.results().size() != n.result_count) {
        return invalid({message_prefix(n), "has ", counted_text(n.result_count, "result"), " instead of ",
            out.results().size()});
    }
    for (std::size_t i = 0; i != n.result_count; ++i) {
        const tensor_meta& wanted = out.results()[i];
        const tensor_meta& given = *n.results[i].meta;
        if (given == wanted) continue;
        return invalid(
            {message_prefix(n), "its metadata says ", name_of(given.dtype), ' ', shape_text(given.shape),
                ", but it gives ", name_of(wanted.dtype), ' ', shape_text(wanted.shape)});
    }
    return {};
}

// True if the values have the types and shapes of `wanted`, in order.
template <class Values>
[[nodiscard]] bool has_metas_of(const Values& given, const list<value>& wanted) {
    std::size_t i = 0;
    for (const value v : given) {
        const tensor_meta* a = meta_of(v);
        const tensor_meta* b = i < wanted.size() ? meta_of(wanted[i]) : nullptr;
        if (a == nullptr || b == nullptr || !(*a == *b)) return false;
        ++i;
    }
    return i == wanted.size();
}
[[nodiscard]] inline bool takes_metas_of(const graph& region, const list<value>& wanted) {
    pmr_vector<value> inputs;
    for (node& n : const_cast<graph&>(region).inputs()) inputs.push_back(n.result());
    return has_metas_of(inputs, wanted);
}
[[nodiscard]] inline bool is_one_truth(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta != nullptr && is_boolean(meta->dtype) && meta->elements() == 1;
}

/// Checks the values that go into regions and come out of them (TOSA 1.0, 2.15).
[[nodiscard]] inline result<void> verify_tosa_regions(const node& n) {
    const auto wrong = [&](std::string_view what) -> result<void> {
        return invalid({message_prefix(n), what});
    };
    if (const auto* a = args_if<tosa::cond_if>(n)) {
        if (!is_one_truth(a->condition)) return wrong("the condition must be one boolean");
        if (!takes_metas_of(*a->then_graph, a->inputs) || !takes_metas_of(*a->else_graph, a->inputs))
            return wrong("a branch takes other types or shapes than the inputs");
    }
    if (const auto* a = args_if<tosa::while_loop>(n)) {
        if (a->cond_graph == nullptr || a->body_graph == nullptr) return wrong("a region is missing");
        if (!takes_metas_of(*a->cond_graph, a->inputs) || !takes_metas_of(*a->body_graph, a->inputs))
            return wrong("a region takes other types or shapes than the inputs");
        if (!has_metas_of(a->body_graph->outputs(), a->inputs))
            return wrong("the body gives other types or shapes than it takes");
        const list<value> goes_on = a->cond_graph->outputs();
        if (goes_on.size() != 1 || !is_one_truth(goes_on[0]))
            return wrong("the condition must give one boolean");
    }
    return {};
}

[[nodiscard]] inline result<void> verify_u55(const node& n, const op_facts& facts) {
    const std::pmr::string fault = u55::restriction(facts);
    if (fault.empty()) return {};
    return unsupported({message_prefix(n), fault, "; drop u55 from the target"});
}

}  // namespace detail

/// Checks whether a target takes a node: TOSA 1.0 has the op for these types, the target has the features
/// that they need, zero points are allowed, sizes are within level 8K, metadata matches the op and, for a
/// target with u55, Ethos-U55 executes it. Nodes of the builtin dialect are refused if they are inputs of too
/// high a rank or of a type that TOSA does not have, constants of a type that the target does not have, or
/// opaque. Regions are not entered.
///
/// Fails with `unsupported` if another target or a smaller model would do, and with `invalid` if the graph is
/// wrong.
[[nodiscard]] inline result<void> verify_tosa(const node& n, const target_spec& target) {
    if (is<builtin::output>(n)) return {};
    for (std::size_t i = 0; i != n.operand_count; ++i) {
        if (meta_of(n.operand(i)) == nullptr)
            return invalid({message_prefix(n), "an operand has no metadata"});
    }
    for (const result_slot& r : std::span(n.results, n.result_count)) {
        if (!r.meta) return invalid({message_prefix(n), "a result has no metadata"});
    }
    if (is<builtin::placeholder>(n)) return detail::verify_tosa_input(n);
    if (is<builtin::constant>(n)) {
        const dtype type = n.results[0].meta->dtype;
        const std::pmr::string missing = detail::missing_type_text(type, target);
        if (missing.empty()) return {};
        return unsupported({message_prefix(n), "a constant of ", name_of(type), missing});
    }
    if (!is_of_dialect<tosa::dialect>(n)) {
        return unsupported({message_prefix(n), "is not an operator of TOSA"});
    }
    HEADRACE_TRY(detail::verify_tosa_shapes(n));
    op_facts facts = detail::quick_facts_of(n);
    HEADRACE_TRY(detail::verify_tosa_types(n, facts, target));
    HEADRACE_TRY(detail::verify_tosa_integers(n, facts));
    HEADRACE_TRY(detail::verify_tosa_regions(n));
    HEADRACE_TRY(detail::verify_tosa_level(n, facts));
    if (!target.has(target_feature::u55)) return {};
    detail::add_slow_facts(n, facts);
    return detail::verify_u55(n, facts);
}

/// Returns the first failure among all nodes of a graph and its control-flow regions.
[[nodiscard]] inline result<void> verify_tosa(const graph& g, const target_spec& target) {
    for (const node& n : g.nodes()) {
        HEADRACE_TRY(verify_tosa(n, target));
        result<void> found;
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (region != nullptr && found) found = verify_tosa(*region, target);
        });
        if (!found) return found;
    }
    return {};
}

}  // namespace headrace

#endif
