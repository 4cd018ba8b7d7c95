// SPDX-License-Identifier: MIT
// Defines headrace::inference, through which the shape and dtype rules of ops are asked, statically by tag or
// dynamically by op_info.
#ifndef HEADRACE_INFER_INFERENCE_HPP
#define HEADRACE_INFER_INFERENCE_HPP

#include <array>
#include <concepts>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

/// "[2, 3]".
[[nodiscard]] inline std::pmr::string shape_text(sizes shape) {
    std::pmr::string text = "[";
    for (const std::int64_t size : shape) {
        if (text.size() != 1) text += ", ";
        text += number_text(size);
    }
    return text += ']';
}

/// What a rule writes: the metadata of each result, in order. Rules are overloads
///
///     result<void> infer_results(aten::relu, const args<aten::relu>& a, inference& out);
///
/// in namespace headrace, found by argument-dependent lookup on the tag; a rule for a family of ops is a
/// template constrained by headrace::one_of. A rule may rely on each operand's metadata being there.
class inference {
public:
    explicit inference(std::pmr::memory_resource* arena) : arena_(arena), results_(arena) {}

    /// Metadata of an operand.
    [[nodiscard]] static const tensor_meta& of(value operand) { return *meta_of(operand); }

    /// Adds a result.
    void add(dtype type, std::span<const std::int64_t> shape) { results_.push_back({type, own(shape), {}}); }
    void add(dtype type, std::initializer_list<std::int64_t> shape) {
        add(type, std::span<const std::int64_t>(std::data(shape), shape.size()));
    }
    void add(const tensor_meta& meta) { add(meta.dtype, meta.shape); }

    [[nodiscard]] std::span<const tensor_meta> results() const { return results_; }
    void clear() { results_.clear(); }

    /// The result is written over `self`, whose type and shape therefore stay.
    result<void> write_over(const tensor_meta& self) {
        if (results_.size() == 1 && !(results_[0].shape == self.shape)) {
            return invalid("cannot expand " + shape_text(results_[0].shape) + " to " +
                           shape_text(self.shape));
        }
        results_.assign(1, {self.dtype, self.shape, {}});
        return boost::outcome_v2::success();
    }

private:
    [[nodiscard]] int_list own(std::span<const std::int64_t> shape) {
        if (shape.size() <= int_list::inline_capacity) return int_list(shape);
        auto* copy = static_cast<std::int64_t*>(
            arena_->allocate(shape.size() * sizeof(std::int64_t), alignof(std::int64_t)));
        std::copy(shape.begin(), shape.end(), copy);
        return int_list(std::span<const std::int64_t>(copy, shape.size()));
    }

    std::pmr::memory_resource* arena_;
    std::pmr::vector<tensor_meta> results_;
};

namespace detail {
template <class Op, class List>
inline constexpr bool listed = false;
template <class Op, class... Ops>
inline constexpr bool listed<Op, ops<Ops...>> = (__is_same(Op, Ops) || ...);
}  // namespace detail

/// Matches the tags of a list: satisfied by each op in headrace::ops<...>. For rules and kernels of a family.
template <class Op, class List>
concept one_of = detail::listed<Op, List>;

/// Matches ops with a rule of their own: satisfied when infer_results(Op, args<Op>, inference&) is declared.
template <class Op>
concept has_inference_rule = op_tag<Op> && requires(const args<Op>& a, inference& out) {
    { infer_results(Op{}, a, out) } -> std::same_as<result<void>>;
};

namespace detail {
template <op_variant Op>
inline constexpr bool base_has_rule = has_inference_rule<base_of<Op>>;
}

/// Matches ops with a rule: their own, or that of the op that they are a variant of.
template <class Op>
concept inferable = has_inference_rule<Op> || (op_variant<Op> && detail::base_has_rule<Op>);

/// Asks the rule of an op. What is written in place keeps its type and shape, unless it only changes how the
/// tensor is seen, as squeeze_ does.
template <inferable Op>
result<void> infer_op(const args<Op>& a, inference& out) {
    if constexpr (has_inference_rule<Op>) {
        return infer_results(Op{}, a, out);
    } else {
        using base = base_of<Op>;
        result<void> done = infer_results(base{}, convert_args<base, Op>(a), out);
        if constexpr (has_trait<Op>(trait::in_place) && !has_trait<base>(trait::aliasing)) {
            if (done) done = out.write_over(inference::of(a.self));
        }
        return done;
    }
}

/// A rule, by the op's address.
using inference_rule = result<void> (*)(const void* arguments, inference& out);

namespace detail {
template <op_tag Op>
result<void> infer_erased(const void* arguments, inference& out) {
    return infer_op<Op>(*static_cast<const args<Op>*>(arguments), out);
}
template <op_tag Op>
constexpr inference_rule rule_or_null() {
    if constexpr (inferable<Op>) {
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
}  // namespace detail

/// The rules of a set of dialects, for nodes whose op is known only at run time. Naming it makes the program
/// carry all of them: include it where a whole dialect is needed, never in the core.
template <class... Dialects>
[[nodiscard]] inference_rule find_rule(const op_info& op) {
    inference_rule rule = nullptr;
    const auto look_in = [&]<class D>() {
        if (op.dialect == &info_of_dialect<D>)
            rule = detail::rule_table_of<typename D::all_ops>::value[op.index];
    };
    (look_in.template operator()<Dialects>(), ...);
    return rule;
}

/// "conv2d (aten.conv2d.default): ": how each message about a node begins.
[[nodiscard]] inline std::pmr::string message_prefix(const node& n) {
    const auto* origin = n.find_annotation<provenance>();
    std::pmr::string text = printable(origin_name(n));
    text += " (";
    text += printable(origin != nullptr ? origin->op_name : n.op->name);
    text += "): ";
    return text;
}

}  // namespace headrace

#endif
