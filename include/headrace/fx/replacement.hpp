// SPDX-License-Identifier: MIT
// Defines headrace::replacement, which replaces a match in headrace::replace_pattern.
#ifndef HEADRACE_FX_REPLACEMENT_HPP
#define HEADRACE_FX_REPLACEMENT_HPP

#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/fx/pattern.hpp>
#include <headrace/fx/subgraph_match.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/emit.hpp>

namespace headrace {

namespace detail {

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
        return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(bytes_.data()) + f.offset);
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
                    std::memcpy(&to[static_cast<std::size_t>(i) * size], element_of(data, *meta, i), size);
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

/// The inference rules of the ops in a replacement.
template <class List>
struct rules_among;
template <class... Ops>
struct rules_among<ops<Ops...>> {
    static result<void> infer(const node& n, inference& out) {
        inference_rule rule = nullptr;
        ((n.op == &info_of<Ops> ? void(rule = rule_of_op<Ops>()) : void()), ...);
        if (rule == nullptr) return invalid({"no inference for ", n.op->name});
        return rule(n.arguments, out);
    }
};

// The ops that a callable that makes nodes declares to produce, and its return type.
template <class Member>
struct emitting_signature;
template <class F, class R, class Produces>
struct emitting_signature<R (F::*)(const subgraph_match&, emit<Produces>&) const> {
    using produces = Produces;
    using returned = R;
};
template <class F>
using emitting_signature_of = emitting_signature<decltype(&F::operator())>;

}  // namespace detail

/// Matches callables that make the nodes of a replacement themselves: a const call operator that takes `const
/// subgraph_match&` and `emit<ops<...>>&`, and returns the same types as a pass's handler.
template <class F>
concept emitting_function = requires { typename detail::emitting_signature_of<F>::produces; };

/// Matches callables that return a replacement graph for each match.
template <class F>
concept graph_callback = !pattern_function<F> &&
    std::is_invocable_r_v<result<std::shared_ptr<const graph>>, const F&, const subgraph_match&, const graph&,
        const graph&>;

/// The replacement of a match. It has the inputs of the pattern, in order, and returns one value for each
/// that the pattern returns. It is made from
///
/// - a graph, or a callable that returns an expression, like a pattern: copied for each match;
/// - a callable `(match, original, pattern) -> result<std::shared_ptr<const graph>>`: one graph per match;
/// - a callable `(const subgraph_match&, emit<ops<...>>&)`, which makes nodes like a pass's handler, and may
///   decline like one.
///
/// Nodes that come from a graph get metadata by the context's inference rules, all others by the rules of
/// their ops.
class replacement {
public:
    /// The graph must outlive this object.
    replacement(const graph& g) : make_(from_graph(&g, nullptr)) {}
    template <pattern_function F>
    replacement(const F& f) {
        using expression = decltype(expression_of(f));
        using facts = detail::expression_facts<detail::expression_side::replacement, expression>;
        static_assert(sound_expression<typename facts::fault>,
            "replacement: its expression is ill-formed; see the diagnosis, fix that call");
        static_assert(results_are_inferred<decltype(detail::find_not_inferred(typename facts::called{}))>,
            "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        if constexpr (std::is_same_v<typename facts::fault, no_fault>) {
            auto g = std::make_shared<graph>();
            detail::write_expression(*g, f);
            make_ = [copy = from_graph(g.get(), &detail::rules_among<typename facts::called>::infer), g](
                        const subgraph_match& m, const graph& p, const detail::replacement_site& site,
                        value_list& with) { return copy(m, p, site, with); };
        }
    }
    template <graph_callback F>
    replacement(F f) {
        make_ = [f = std::move(f)](const subgraph_match& m, const graph& pattern,
                    const detail::replacement_site& site, value_list& with) {
            const result<std::shared_ptr<const graph>> made = f(m, std::as_const(site.g), pattern);
            if (!made) {
                site.context.report(site.current, made.error().message, made.error().kind);
                return detail::outcome_kind::failed;
            }
            if (made.value() == nullptr) return detail::outcome_kind::declined;
            return detail::replacement_copy(*made.value(), nullptr, m, site).run(with);
        };
    }
    template <emitting_function F>
    replacement(F f) {
        make_ = [f = std::move(f)](const subgraph_match& m, const graph&,
                    const detail::replacement_site& site, value_list& with) {
            using produces = typename detail::emitting_signature_of<F>::produces;
            emission made(site.g, &site.current, site.before, site.context);
            emit<produces> e(made);
            auto returned = f(m, e);
            return detail::outcome_of(e, detail::take_result<identity_policy>(e, returned, with));
        };
    }

    /// Makes the replacement of one match; `with` receives the values that replace the returned ones.
    detail::outcome_kind operator()(const subgraph_match& m, const graph& pattern,
        const detail::replacement_site& site, value_list& with) const {
        return make_ ? make_(m, pattern, site, with) : detail::outcome_kind::declined;
    }

private:
    using make_function = std::function<detail::outcome_kind(
        const subgraph_match&, const graph& pattern, const detail::replacement_site&, value_list&)>;

    static make_function from_graph(const graph* g, pass_context::node_inference rules) {
        return [g, rules](const subgraph_match& m, const graph&, const detail::replacement_site& site,
                   value_list& with) { return detail::replacement_copy(*g, rules, m, site).run(with); };
    }

    make_function make_;
};

}  // namespace headrace

#endif
