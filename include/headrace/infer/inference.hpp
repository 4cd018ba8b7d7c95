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
#include <headrace/ir/node.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

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

/// Matches ops with a rule: satisfied when infer_results(Op, args<Op>, inference&) is declared.
template <class Op>
concept inferable = op_tag<Op> && requires(const args<Op>& a, inference& out) {
    { infer_results(Op{}, a, out) } -> std::same_as<result<void>>;
};

/// A rule, by the op's address.
using inference_rule = result<void> (*)(const void* arguments, inference& out);

namespace detail {
template <op_tag Op>
result<void> infer_erased(const void* arguments, inference& out) {
    return infer_results(Op{}, *static_cast<const args<Op>*>(arguments), out);
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
    std::pmr::string text(origin_name(n));
    text += " (";
    text += origin != nullptr ? origin->op_name : n.op->name;
    text += "): ";
    return text;
}

}  // namespace headrace

#endif
