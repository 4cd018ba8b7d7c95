// SPDX-License-Identifier: MIT
// Tests the lists of kernels: each op of Headrace's dialects has a kernel, and no op has two.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/device.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/kernels.hpp>

using namespace headrace;

namespace {

/// The ops without a kernel: run_graph handles inputs and outputs itself, and only its author knows a CUSTOM.
constexpr std::array<std::string_view, 4> without_kernel{
    "builtin.placeholder", "builtin.output", "builtin.opaque", "tosa.CUSTOM"};

template <class... Dialects>
void check_kernels() {
    const auto check = [](std::span<const op_info* const> ops) {
        for (const op_info* op : ops) {
            INFO(op->name);
            const bool has_none = std::ranges::find(without_kernel, op->name) != without_kernel.end();
            CHECK((eval::kernel_of_headrace(*op) == nullptr) == has_none);
        }
    };
    (check(op_table<Dialects>), ...);
}

}  // namespace

TEST_CASE("each op has a kernel") {
    check_kernels<aten::dialect, builtin::dialect, cortex_m::dialect, delegate::dialect, device::dialect,
        dim_order_ops::dialect, higher_order::dialect, memory::dialect, quantized_decomposed::dialect,
        tosa::dialect>();
}

TEST_CASE("no op has a kernel in two sources") {
    std::set<const op_info*> seen;
    for (const eval::kernel_list* list : eval::kernel_lists()) {
        CHECK_FALSE(list->empty());
        for (const eval::kernel_entry& entry : *list) {
            INFO(entry.op->name);
            CHECK(seen.insert(entry.op).second);
        }
    }
}
