// SPDX-License-Identifier: MIT
// Defines headrace::out::variant, the form of an op that writes its results into given buffers, and the out
// dialect of all such ops.
#ifndef HEADRACE_MEMORY_OUT_VARIANT_HPP
#define HEADRACE_MEMORY_OUT_VARIANT_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <boost/mp11/list.hpp>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/op/op_query.hpp>

namespace headrace::out {

struct dialect;

namespace detail {

using namespace headrace::detail;

// torchgen's rule: "default" becomes "out", another overload gets the suffix. TOSA has no overloads.
template <op_tag Op>
struct regular_name {
    static constexpr std::size_t dots = static_cast<std::size_t>(std::ranges::count(Op::name, '.'));
    static constexpr bool is_default = Op::name.ends_with(".default");
    static constexpr std::string_view stem =
        is_default ? Op::name.substr(0, Op::name.size() - 8) : std::string_view(Op::name);
    static constexpr std::string_view suffix = is_default || dots == 1 ? ".out" : "_out";
    static constexpr auto text = [] {
        std::array<char, stem.size() + suffix.size()> joined{};
        std::ranges::copy(suffix, std::ranges::copy(stem, joined.begin()).out);
        return joined;
    }();
};
template <op_tag Op>
constexpr std::string_view name_of_variant() {
    if constexpr (!Op::out_name.empty()) {
        return Op::out_name;
    } else {
        return {regular_name<Op>::text.data(), regular_name<Op>::text.size()};
    }
}

}  // namespace detail

/// Every functional op with an out-variant (trait::has_out), in the order of the dialects. For ATen these are
/// the ops with an out-variant in PyTorch, except composite ops such as conv2d; for TOSA all ops that
/// compute, except RESHAPE, which is a view.
using functional_ops = boost::mp11::mp_append<ops_where<aten::dialect, trait::has_out>,
    ops_where<quantized_decomposed::dialect, trait::has_out>,
    ops_where<dim_order_ops::dialect, trait::has_out>, ops_where<tosa::dialect, trait::has_out>>;

/// The op `Op` with an additional argument `out`: one buffer for each result, which it overwrites. Its
/// results are the contents of those buffers. PyTorch has a separate argument for each buffer; here they are
/// one list.
///
///     out::variant<aten::add_tensor>     aten.add.out(%x, %y, out=%buffer)
template <op_tag Op>
struct variant {
    using functional = Op;
    using dialect_type = dialect;
    using buffers = std::conditional_t<Op::results == 1, value, list<value>>;
    struct args {
        typename Op::args functional;
        buffers out;
    };
    static constexpr std::string_view name = detail::name_of_variant<Op>();
    static constexpr int results = Op::results;
    static constexpr std::uint64_t trait_bits = static_cast<std::uint64_t>(trait::writes_out);
};

namespace detail {
template <class... Ops>
dialect_of<"out", variant<Ops>...> dialect_of_variants(ops<Ops...>);
}

struct dialect : decltype(detail::dialect_of_variants(functional_ops{})) {};

}  // namespace headrace::out

namespace headrace {

// The functional op's arguments come first, so kernels and inference rules that take a pointer to them also
// accept a pointer to the variant's.
template <op_tag Op>
inline constexpr auto fields_of<out::variant<Op>> = [] {
    using variant_args = args<out::variant<Op>>;
    static_assert(std::is_standard_layout_v<variant_args>,
        "out_variant: arguments that lie in several bases; give the op one struct of arguments");
    std::array<field_info, fields_of<Op>.size() + 1> fields{};
    std::ranges::copy(fields_of<Op>, fields.begin());
    fields.back() = {"out", kind_of<typename out::variant<Op>::buffers>, false,
        static_cast<std::uint16_t>(offsetof(variant_args, out))};
    return fields;
}();

namespace out {

inline constexpr const auto& functional_table = headrace::detail::op_table_of<functional_ops>::value;

/// Returns the functional op of an out-variant, or the op itself if it is not one.
[[nodiscard]] constexpr const op_info& functional_of(const op_info& op) {
    return op.dialect == &info_of_dialect<dialect> ? *functional_table[op.index] : op;
}

/// Returns the out-variant of a functional op, or null if there is none.
[[nodiscard]] constexpr const op_info* variant_of(const op_info& op) {
    for (std::size_t i = 0; i != functional_table.size(); ++i) {
        if (functional_table[i] == &op) return op_table<dialect>[i];
    }
    return nullptr;
}

}  // namespace out

}  // namespace headrace

#endif
