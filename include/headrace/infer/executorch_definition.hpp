// SPDX-License-Identifier: MIT
// Defines the functions of infer/executorch.hpp.
#ifndef HEADRACE_INFER_EXECUTORCH_DEFINITION_HPP
#define HEADRACE_INFER_EXECUTORCH_DEFINITION_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include <headrace/base/compiled.hpp>
#include <headrace/base/result.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/kernel_deviations.hpp>
#include <headrace/infer/kernel_refusals.hpp>
#include <headrace/infer/quantized_decomposed.hpp>

namespace headrace::executorch {

namespace detail {

// --- the tables --------------------------------------------------------------------------------------------

struct checks {
    inference_rule rule = nullptr;
    reason (*refusal)(const void* arguments) = nullptr;
    reason (*deviation)(const void* arguments) = nullptr;
};
template <class Op>
[[nodiscard]] checks checks_of() {
    checks made{headrace::detail::rule_of_op<Op>()};
    if constexpr (requires(const args<Op>& a) { refusal(Op{}, a); })
        made.refusal = [](const void* a) { return refusal(Op{}, *static_cast<const args<Op>*>(a)); };
    if constexpr (requires(const args<Op>& a) { deviation(Op{}, a); })
        made.deviation = [](const void* a) { return deviation(Op{}, *static_cast<const args<Op>*>(a)); };
    return made;
}
template <class List>
struct checks_table;
template <class... Kernels>
struct checks_table<ops<Kernels...>> {
    static inline const std::array<checks, sizeof...(Kernels)> all{
        checks_of<typename Kernels::functional>()...};
    static constexpr std::array<kernel_types, sizeof...(Kernels)> types{Kernels::types...};
    static constexpr std::array<const op_info*, sizeof...(Kernels)> from{
        &info_of<typename Kernels::functional>...};
};

/// Returns the index of the node's kernel, or the count of kernels if there is none.
[[nodiscard]] inline std::size_t kernel_number(const node& n) {
    using table = checks_table<kernels>;
    const op_info* const op = &functional_of(*n.op);
    return static_cast<std::size_t>(std::ranges::find(table::from, op) - table::from.begin());
}

}  // namespace detail

HEADRACE_INLINE result<void> infer_kernel(std::size_t number, const void* arguments, inference& out) {
    using table = detail::checks_table<kernels>;
    if (number == table::all.size())
        return infer_op<aten::view>(*static_cast<const args<aten::view>*>(arguments), out);
    const detail::checks& checks = table::all[number];
    if (checks.refusal != nullptr) {
        const std::pmr::string why = checks.refusal(arguments);
        if (!why.empty()) return unsupported(why);
    }
    return checks.rule(arguments, out);
}

HEADRACE_INLINE std::pmr::string kernel_refusal(const node& n) {
    using table = detail::checks_table<kernels>;
    const std::size_t i = detail::kernel_number(n);
    if (i == table::all.size()) return {};
    if (auto why = detail::type_refusal(n, table::types[i]); !why.empty()) return why;
    return table::all[i].refusal == nullptr ? std::pmr::string() : table::all[i].refusal(n.arguments);
}

HEADRACE_INLINE std::pmr::string kernel_deviation(const node& n) {
    using table = detail::checks_table<kernels>;
    const std::size_t i = detail::kernel_number(n);
    if (i == table::all.size() || table::all[i].deviation == nullptr) return {};
    return table::all[i].deviation(n.arguments);
}

}  // namespace headrace::executorch

#endif
