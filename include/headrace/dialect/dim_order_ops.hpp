// SPDX-License-Identifier: MIT
// Defines the dim_order_ops dialect: ExecuTorch's casts and copies that set the dimension order in memory.
#ifndef HEADRACE_DIALECT_DIM_ORDER_OPS_HPP
#define HEADRACE_DIALECT_DIM_ORDER_OPS_HPP

#include <optional>

#include <headrace/op/op.hpp>

namespace headrace::dim_order_ops {

struct dialect;

/// Casts, copies, or both. `dim_order` lists the dimensions from the outermost in memory; by default the
/// order of `self` is kept.
struct _to_dim_order_copy : op<dialect, "dim_order_ops._to_dim_order_copy.default",
                                "self, dtype, non_blocking, dim_order", trait::casting, trait::has_out> {
    struct args {
        value self;
        std::optional<headrace::dtype> dtype{};
        bool non_blocking = false;
        std::optional<int_list> dim_order{};
    };
};

struct _clone_dim_order : op<dialect, "dim_order_ops._clone_dim_order.default",
                              "self, non_blocking, dim_order", trait::copying, trait::has_out> {
    struct args {
        value self;
        bool non_blocking = false;
        std::optional<int_list> dim_order{};
    };
};

struct _empty_dim_order : op<dialect, "dim_order_ops._empty_dim_order.default", "size, dtype, dim_order",
                              trait::gives_zeros, trait::has_out> {
    struct args {
        int_list size;
        std::optional<headrace::dtype> dtype{};
        std::optional<int_list> dim_order{};
    };
};

struct dialect : dialect_of<"dim_order_ops", _to_dim_order_copy, _clone_dim_order, _empty_dim_order> {};

}  // namespace headrace::dim_order_ops

#endif
