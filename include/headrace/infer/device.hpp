// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the device dialect: the results of a layer are its graph's.
#ifndef HEADRACE_INFER_DEVICE_HPP
#define HEADRACE_INFER_DEVICE_HPP

#include <headrace/dialect/device.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

template <one_of<device::dialect::all_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.body == nullptr || a.body->outputs().size() != 1 || meta_of(a.body->outputs()[0]) == nullptr)
        return invalid("a layer's graph has one result of a known type");
    return add_result(out, inference::of(a.body->outputs()[0]));
}

}  // namespace headrace

#endif
