// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the higher_order dialect: results are those of the regions.
#ifndef HEADRACE_INFER_HIGHER_ORDER_DEFINITION_HPP
#define HEADRACE_INFER_HIGHER_ORDER_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/meta_text.hpp>

namespace headrace {

namespace detail {

/// Returns the results of a region; fails if the metadata of any is missing.
inline result<list<value>> region_values(const graph* region) {
    if (region == nullptr || region->output() == nullptr) return invalid("a region has no output");
    for (const value v : region->outputs()) {
        if (meta_of(v) == nullptr) return invalid("a result of a region has no metadata");
    }
    return region->outputs();
}

inline result<void> infer_region(inference& out, const graph* region) {
    HEADRACE_TRY(values, region_values(region));
    for (const value v : values) {
        HEADRACE_TRY(add_result(out, inference::of(v)));
    }
    return {};
}

/// Refuses a region whose inputs do not match its operands: values as they are, or slices along the first
/// axis of the values that it iterates over.
class region_inputs {
public:
    explicit region_inputs(const graph* region) {
        if (region == nullptr) {
            fits_ = invalid("a region is missing");
            return;
        }
        for (node& n : const_cast<graph*>(region)->inputs()) inputs_.push_back(n.result(0));
    }
    region_inputs& take(list<value> values) { return take(values, 0); }
    region_inputs& take_slices(list<value> values) { return take(values, 1); }

    [[nodiscard]] result<void> check() const {
        if (!fits_) return fits_.error();
        if (given_ == inputs_.size()) return {};
        return invalid({"a region takes ", counted_text(inputs_.size(), "input"), ", but is given ", given_});
    }

private:
    region_inputs& take(list<value> values, std::size_t axes_gone) {
        for (const value v : values) {
            if (given_ < inputs_.size()) compare(inputs_[given_], inference::of(v), axes_gone);
            ++given_;
        }
        return *this;
    }
    void compare(value input, const tensor_meta& given, std::size_t axes_gone) {
        const tensor_meta* taken = meta_of(input);
        if (taken == nullptr || !fits_) return;
        const sizes shape(given.shape);
        const bool fits = shape.size() >= axes_gone && taken->dtype == given.dtype &&
            taken->shape == int_list(shape.subspan(axes_gone));
        if (!fits) {
            fits_ = invalid({"input ", given_, " of a region is ", meta_text(*taken), ", but is given ",
                meta_text(given)});
        }
    }

    pmr_vector<value> inputs_;
    std::size_t given_ = 0;
    result<void> fits_;
};

/// Refuses two lists of results that must be interchangeable but differ.
inline result<void> require_equal_results(std::string_view what, list<value> given, list<value> expected) {
    HEADRACE_TRY(require_count(what, given.size(), expected.size()));
    for (std::size_t i = 0; i != given.size(); ++i) {
        const tensor_meta* a = meta_of(given[i]);
        const tensor_meta* b = meta_of(expected[i]);
        if (a == nullptr || b == nullptr || (a->dtype == b->dtype && a->shape == b->shape)) continue;
        return invalid({what, ": result ", i, " is ", meta_text(*a), ", but must be ", meta_text(*b)});
    }
    return {};
}

/// Returns the number of iterations of a region: the size of the first axis of all `xs`.
inline result<std::int64_t> iterations_of(list<value> xs) {
    if (xs.empty()) return invalid("there is nothing to iterate over");
    std::int64_t count = -1;
    for (const value v : xs) {
        const sizes shape(inference::of(v).shape);
        if (shape.empty() || (count != -1 && shape[0] != count)) {
            return invalid("tensors to iterate over must have the same size along axis 0");
        }
        count = shape[0];
    }
    return count;
}

/// Infers the results of a region that runs once per slice: the last run's for the first `carried`, the
/// others stacked.
inline result<void> infer_iterated(inference& out, const graph* region, list<value> xs, std::size_t carried) {
    HEADRACE_TRY(values, region_values(region));
    HEADRACE_TRY(count, iterations_of(xs));
    if (carried > values.size()) return invalid("the region gives fewer values than it carries");
    for (std::size_t i = 0; i != values.size(); ++i) {
        const tensor_meta& one = inference::of(values[i]);
        shape_builder shape(one.shape);
        if (i >= carried) shape.insert(0, count);
        HEADRACE_TRY(add_result(out, one.dtype, shape));
    }
    return {};
}

}  // namespace detail

template <one_of<ops<higher_order::cond>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_elements("pred", inference::of(a.pred).shape, 1));
    HEADRACE_TRY(detail::region_inputs(a.true_graph).take(a.operands).check());
    HEADRACE_TRY(detail::region_inputs(a.false_graph).take(a.operands).check());
    HEADRACE_TRY(if_true, detail::region_values(a.true_graph));
    HEADRACE_TRY(if_false, detail::region_values(a.false_graph));
    HEADRACE_TRY(detail::require_equal_results("the second branch", if_false, if_true));
    return detail::infer_region(out, a.true_graph);
}
template <one_of<ops<higher_order::while_loop>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    for (const graph* region : {a.cond_graph, a.body_graph}) {
        HEADRACE_TRY(detail::region_inputs(region).take(a.carried_inputs).take(a.additional_inputs).check());
    }
    HEADRACE_TRY(next, detail::region_values(a.body_graph));
    HEADRACE_TRY(detail::require_equal_results("the body", next, a.carried_inputs));
    return detail::infer_region(out, a.body_graph);
}
template <one_of<ops<higher_order::wrap_with_set_grad_enabled>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::region_inputs(a.wrapped_graph).take(a.operands).check());
    return detail::infer_region(out, a.wrapped_graph);
}
template <one_of<ops<higher_order::wrap_with_autocast>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.enabled)
        return unsupported("it computes in types that PyTorch chooses; export without torch.autocast");
    HEADRACE_TRY(detail::region_inputs(a.wrapped_body).take(a.operands).check());
    return detail::infer_region(out, a.wrapped_body);
}
template <one_of<ops<higher_order::map_impl>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::region_inputs(a.body_graph).take_slices(a.xs).take(a.operands).check());
    return detail::infer_iterated(out, a.body_graph, a.xs, 0);
}
template <one_of<ops<higher_order::scan>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::region_inputs(a.combine_graph)
                     .take(a.init)
                     .take_slices(a.xs)
                     .take(a.additional_inputs)
                     .check());
    return detail::infer_iterated(out, a.combine_graph, a.xs, a.init.size());
}

}  // namespace headrace

#endif
