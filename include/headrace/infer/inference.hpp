// SPDX-License-Identifier: MIT
// Defines headrace::inference, the interface to the shape and dtype rules of ops, statically by tag or
// dynamically by op_info.
#ifndef HEADRACE_INFER_INFERENCE_HPP
#define HEADRACE_INFER_INFERENCE_HPP

#include <array>
#include <concepts>
#include <memory_resource>
#include <span>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

#ifdef HEADRACE_COMPILED
namespace aten {
struct dialect;
}
namespace dim_order_ops {
struct dialect;
}
namespace higher_order {
struct dialect;
}
namespace quantized_decomposed {
struct dialect;
}
namespace tosa {
struct dialect;
struct const_;
struct custom;
}  // namespace tosa
#endif

/// Returns "[2, 3]".
[[nodiscard]] std::pmr::string shape_text(sizes shape);

/// The output of a rule: the metadata of each result, in order. Rules are overloads
///
///     result<void> infer_results(aten::relu, const args<aten::relu>& a, inference& out);
///
/// in namespace headrace, found by argument-dependent lookup on the tag. A rule for a family of ops is a
/// template constrained by headrace::one_of. A rule may assume that each operand has metadata.
class inference {
public:
    explicit inference(std::pmr::memory_resource* arena) : arena_(arena), results_(arena) {}

    /// Returns the metadata of an operand.
    [[nodiscard]] static const tensor_meta& of(value operand) { return *meta_of(operand); }

    /// Adds a result. dtype::unknown leaves it open: its type and shape depend on more than the arguments.
    void add(dtype type, std::span<const std::int64_t> shape) { results_.push_back({type, own(shape), {}}); }
    void add(dtype type, std::initializer_list<std::int64_t> shape) {
        add(type, std::span<const std::int64_t>(std::data(shape), shape.size()));
    }
    void add(const tensor_meta& meta) { add(meta.dtype, meta.shape); }

    [[nodiscard]] std::span<const tensor_meta> results() const { return results_; }
    void clear() { results_.clear(); }

    /// Adds a result that overwrites `self` and so must keep its type and shape.
    result<void> write_over(const tensor_meta& self);

private:
    [[nodiscard]] int_list own(std::span<const std::int64_t> shape);

    std::pmr::memory_resource* arena_;
    pmr_vector<tensor_meta> results_;
};

/// The interface of caches of inferences, such as headrace::dispatch_cache.
class inference_cache {
public:
    using rules = result<void> (*)(const node& n, inference& out);

    /// Returns the inference for that node, from the cache if it is known.
    [[nodiscard]] virtual result<void> infer(const node& n, inference& out, rules rule) = 0;

protected:
    ~inference_cache() = default;
};

namespace detail {
template <class Op, class List>
inline constexpr bool listed = false;
template <class Op, class... Ops>
inline constexpr bool listed<Op, ops<Ops...>> = (__is_same(Op, Ops) || ...);
}  // namespace detail

/// Matches each op of a list headrace::ops<...>; for rules and kernels of a family.
template <class Op, class List>
concept one_of = detail::listed<Op, List>;

/// Matches ops with a rule of their own: infer_results(Op, args<Op>, inference&) is declared.
template <class Op>
concept has_inference_rule = op_tag<Op> && requires(const args<Op>& a, inference& out) {
    { infer_results(Op{}, a, out) } -> std::same_as<result<void>>;
};

namespace detail {
template <op_variant Op>
inline constexpr bool base_has_rule = has_inference_rule<base_of<Op>>;
}

/// A rule, called with the address of the argument struct.
using inference_rule = result<void> (*)(const void* arguments, inference& out);

namespace detail {

#ifdef HEADRACE_COMPILED
/// The dialects whose rules headrace::compiled has, so that their templates are not instantiated again.
using compiled_rules = ops<aten::dialect, dim_order_ops::dialect, higher_order::dialect,
    quantized_decomposed::dialect, tosa::dialect>;
using ops_without_rule = ops<tosa::const_, tosa::custom>;
#else
using compiled_rules = ops<>;
using ops_without_rule = ops<>;
#endif

template <class Op>
concept has_compiled_rule =
    listed<typename Op::dialect_type, compiled_rules> && !listed<Op, ops_without_rule>;

/// Returns the rule of an op of these dialects; infer/compiled_rules_definition.hpp defines it.
[[nodiscard]] inference_rule compiled_rule(const op_info& op);

template <class Op>
concept has_own_or_base_rule = has_inference_rule<Op> || (op_variant<Op> && base_has_rule<Op>);

}  // namespace detail

/// Matches ops with a rule: their own, or that of the op of which they are a variant.
template <class Op>
concept inferable = detail::has_compiled_rule<Op> || detail::has_own_or_base_rule<Op>;

namespace detail {

// An in-place result keeps its operand's type and shape, unless the op only changes the view, like squeeze_.
template <has_own_or_base_rule Op>
result<void> infer_by_rule(const args<Op>& a, inference& out) {
    if constexpr (has_inference_rule<Op>) {
        return infer_results(Op{}, a, out);
    } else {
        using base = base_of<Op>;
        result<void> done = infer_by_rule<base>(convert_args<base, Op>(a), out);
        if constexpr (has_trait<Op>(trait::in_place) && !has_trait<base>(trait::aliasing)) {
            if (done) done = out.write_over(inference::of(a.self));
        }
        return done;
    }
}

template <op_tag Op>
result<void> infer_erased(const void* arguments, inference& out) {
    return infer_by_rule<Op>(*static_cast<const args<Op>*>(arguments), out);
}
template <op_tag Op>
constexpr inference_rule rule_or_null() {
    if constexpr (has_own_or_base_rule<Op>) {
        return &infer_erased<Op>;
    } else {
        return nullptr;
    }
}
template <class List>
struct rule_table_of;
template <class... Ops>
struct rule_table_of<ops<Ops...>> {
    static constexpr std::array<inference_rule, sizeof...(Ops)> value{rule_or_null<Ops>()...};
};
template <class Dialect>
[[nodiscard]] inference_rule rule_in_table(const op_info& op) {
    return rule_table_of<typename Dialect::all_ops>::value[op.index];
}
/// Returns the rule of an op, compiled here or in headrace::compiled; null if it has none.
template <op_tag Op>
[[nodiscard]] inference_rule rule_of_op() {
    if constexpr (has_compiled_rule<Op>) {
        return compiled_rule(info_of<Op>);
    } else {
        return rule_or_null<Op>();
    }
}
}  // namespace detail

/// Infers the results of an op by its rule.
template <inferable Op>
result<void> infer_op(const args<Op>& a, inference& out) {
    const inference_rule rule = detail::rule_of_op<Op>();
    return rule != nullptr ? rule(&a, out) : invalid({"nothing infers the results of ", Op::name});
}

/// Returns the rule of an op of these dialects, for nodes whose op is known only at run time. Using it links
/// the rules of whole dialects into the program; never do so in the core.
template <class... Dialects>
[[nodiscard]] inference_rule find_rule(const op_info& op) {
    inference_rule rule = nullptr;
    const auto look_in = [&]<class D>() {
        if (op.dialect != &info_of_dialect<D>) return;
        if constexpr (detail::listed<D, detail::compiled_rules>) {
            rule = detail::compiled_rule(op);
        } else {
            rule = detail::rule_in_table<D>(op);
        }
    };
    (look_in.template operator()<Dialects>(), ...);
    return rule;
}

/// Returns "net.py:42: conv2d (aten.conv2d.default): ", the start of each message about a node, with the line
/// of the model's source if the export has it.
[[nodiscard]] std::pmr::string message_prefix(const node& n);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/inference_definition.hpp>
#endif

#endif
