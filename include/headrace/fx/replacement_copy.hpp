// SPDX-License-Identifier: MIT
// Defines the copy of a replacement graph to the place of a match, for headrace::replacement.
#ifndef HEADRACE_FX_REPLACEMENT_COPY_HPP
#define HEADRACE_FX_REPLACEMENT_COPY_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/fx/subgraph_match.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/strided_walk.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/rewrite/emit.hpp>

namespace headrace::detail {

/// The place of a replacement: before `before`, or at the end of the graph, on behalf of `current`.
struct replacement_site {
    graph& g;
    node& current;
    node* before;
    pass_context& context;
};

/// A copy of a node's arguments with other operands, not attached to a node.
class remapped_arguments {
public:
    template <class Map>
    remapped_arguments(const node& n, Map&& map) : bytes_(n.op->args_size / sizeof(std::max_align_t) + 1) {
        std::memcpy(data(), n.arguments, n.op->args_size);
        for (const field_info& f : *n.op) {
            if (f.kind == field_kind::tensor && !f.optional) {
                at<value>(f) = map(at<value>(f));
            } else if (f.kind == field_kind::tensor) {
                if (auto& v = at<std::optional<value>>(f)) v = map(*v);
            } else if (f.kind == field_kind::tensors) {
                auto& items = lists_.emplace_back();
                for (const value v : at<list<value>>(f)) items.push_back(map(v));
                at<list<value>>(f) = items;
            } else if (f.kind == field_kind::optional_tensors) {
                auto& items = optional_lists_.emplace_back();
                for (const auto& v : at<list<std::optional<value>>>(f))
                    items.push_back(v ? std::optional(map(*v)) : std::nullopt);
                at<list<std::optional<value>>>(f) = items;
            }
        }
    }

    [[nodiscard]] void* data() { return bytes_.data(); }
    /// Sets a member to the literal of another node, which must be of the same kind.
    void set(const field_info& f, const literal& from) {
        visit_field(*from.field, from.arguments, [&]<class T>(const T& item) {
            if constexpr (std::is_same_v<T, custom_member>) {
                if (f.custom == item.type) std::memcpy(&at<std::byte>(f), item.at, f.custom->size);
            } else {
                if constexpr (!is_optional<T>) {
                    if (f.optional) {
                        at<std::optional<T>>(f) = item;
                        return;
                    }
                }
                at<T>(f) = item;
            }
        });
    }

private:
    template <class T>
    T& at(const field_info& f) {
        return detail::member_at<T>(static_cast<void*>(bytes_.data()), f);
    }

    pmr_vector<std::max_align_t> bytes_;
    std::pmr::deque<pmr_vector<value>> lists_;
    std::pmr::deque<pmr_vector<std::optional<value>>> optional_lists_;
};

/// Copies a replacement graph to the place of a match.
class replacement_copy {
public:
    replacement_copy(const graph& from, pass_context::node_inference rules, const subgraph_match& m,
        const replacement_site& site)
        : from_(from), rules_(rules), match_(m), site_(site), made_(from.id_bound()) {}

    outcome_kind run(value_list& with) {
        const node* out = from_.output();
        if (out == nullptr) return fail("the replacement has no output", error_kind::invalid);
        std::size_t input = 0;
        for (const node& n : from_.inputs()) {
            if (input == match_.placeholder_values.size())
                return fail("the replacement has more inputs than the pattern", error_kind::invalid);
            made_[n.id] = {match_.placeholder_values[input++]};
        }
        for (const node& n : from_.nodes()) {
            if (is<builtin::placeholder>(n) || is<builtin::output>(n)) continue;
            if (const outcome_kind outcome = copy(n); outcome != outcome_kind::replaced) return outcome;
        }
        for (const edge& e : out->operand_edges()) with.push_back(mapped(*e.slot));
        return outcome_kind::replaced;
    }

private:
    outcome_kind fail(std::pmr::string reason, error_kind kind) {
        site_.context.report(site_.current, std::move(reason), kind);
        return outcome_kind::failed;
    }
    [[nodiscard]] value mapped(value v) const {
        const auto& results = made_[v.producer->id];
        return v.result < results.size() ? results[v.result] : value{};
    }

    outcome_kind copy(const node& n) {
        const auto* rule = n.find_annotation<matching_rule>();
        if (is<builtin::constant>(n)) return copy_constant(n, rule);
        const std::pmr::string op(n.op->name);
        if (holds_regions(*n.op))
            return fail(text_of({"the replacement has a nested graph, in ", op}), error_kind::invalid);

        remapped_arguments arguments(n, [&](value v) { return mapped(v); });
        if (rule != nullptr) {
            for (const literal_binding& b : rule->literals)
                arguments.set(n.op->fields[b.field], match_.literals[b.placeholder]);
        }
        inference inferred(site_.g.arena());
        if (const result<void> status = infer(*n.op, arguments, inferred); !status)
            return fail(text_of({"cannot make ", op, ": ", status.error().message}), status.error().kind);
        node& copied = site_.g.create(*n.op, arguments.data(), inferred.results().size(), site_.before);
        std::uint32_t i = 0;
        for (const tensor_meta& meta : inferred.results()) site_.g.set_meta(copied.result(i++), meta);
        remember(n, copied);
        return outcome_kind::replaced;
    }
    result<void> infer(const op_info& op, remapped_arguments& arguments, inference& out) const {
        value unknown;
        const bool known = all_operands(op, arguments.data(), [&](value v) {
            unknown = v;
            return v && meta_of(v) != nullptr;
        });
        if (!known) {
            const std::pmr::string which(unknown ? unknown.producer->name() : std::string_view("(none)"));
            return invalid({"operand ", which, " has no `val`"});
        }
        node probe;  // inference only needs an op and its arguments
        probe.op = &op;
        probe.arguments = arguments.data();
        return rules_ != nullptr ? rules_(probe, out) : site_.context.infer(probe, out);
    }
    outcome_kind copy_constant(const node& n, const matching_rule* rule) {
        if (rule != nullptr && rule->filled_with) {
            emission made(site_.g, &site_.current, site_.before, site_.context);
            emitter e(made);
            const tensor_meta& like = e.meta(match_.returning_values[0]);
            const value v = e.splat(*rule->filled_with, like.dtype, like.rank());
            if (!v) return outcome_kind::failed;
            remember(n, *v.producer);
            return outcome_kind::replaced;
        }
        const auto& meta = n.results[0].meta;
        const tensor_data& data = args_of<builtin::constant>(n).data;
        if (!meta || data.bytes == nullptr)
            return fail("the replacement has a constant without `val` or data", error_kind::invalid);
        const std::size_t size = traits_of(meta->dtype).bits / 8U;
        const value v = create_constant(site_.g, *meta, site_.before, [&](std::span<std::byte> to) {
            if (data.strides.empty()) {
                if (!to.empty()) std::memcpy(to.data(), data.bytes, to.size());
            } else {
                for (std::int64_t i = 0; i != meta->elements(); ++i)
                    std::memcpy(&to[static_cast<std::size_t>(i) * size], element_at(data, *meta, i), size);
            }
        });
        remember(n, *v.producer);
        return outcome_kind::replaced;
    }
    void remember(const node& n, node& copied) {
        for (std::uint32_t i = 0; i != copied.result_count; ++i) made_[n.id].push_back(copied.result(i));
    }

    const graph& from_;
    pass_context::node_inference rules_;
    const subgraph_match& match_;
    const replacement_site& site_;
    pmr_vector<pmr_vector<value>> made_;  // results, by the id of the replacement's node
};

}  // namespace headrace::detail

#endif
