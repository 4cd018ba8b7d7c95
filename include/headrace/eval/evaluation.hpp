// SPDX-License-Identifier: MIT
// Defines headrace::evaluation, the interface of kernels, and headrace::find_kernel.
#ifndef HEADRACE_EVAL_EVALUATION_HPP
#define HEADRACE_EVAL_EVALUATION_HPP

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/own_operators.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/node.hpp>

namespace headrace::eval {

// Evaluation has its own namespace because of its many helpers. Its kernels are found by argument-dependent
// lookup on the evaluation; kernels of another dialect may be declared next to its tags.

/// The values of TOSA's VARIABLE operators, by name, which are kept between runs of a graph.
using variable_store = std::map<std::string, tensor, std::less<>>;

class planned_arena;

/// State shared by a graph and its nested graphs while they run.
struct run_state {
    variable_store* variables;
    planned_arena* arena = nullptr;  ///< holds the results; null: each has its own memory
    own_operators own{};

    run_state(variable_store& store) : variables(&store) {}  // a store alone is enough: no explicit
    run_state(variable_store& store, const own_operators& operators) : variables(&store), own(operators) {}
    run_state(variable_store& store, planned_arena& memory, const own_operators& operators)
        : variables(&store), arena(&memory), own(operators) {}
};

/// Runs a graph; see eval/evaluator.hpp. Declared here for the kernels of ops that hold graphs.
[[nodiscard]] result<std::vector<tensor>> run_graph(
    const graph& g, std::span<const tensor> inputs, const run_state& state);

/// One execution of one node. A kernel is an overload
///
///     void evaluate(aten::relu, const args<aten::relu>& a, evaluation& e);
///
/// or, for a family of ops, a template constrained by headrace::one_of. Inference rules have checked all
/// operands and arguments and determined the results: kernels check only what depends on data, such as
/// indices.
class evaluation {
public:
    /// `operands` are parallel to the node's operand edges, `metas` to its results; an unknown dtype means
    /// that the metadata is unknown. `places` are tensors whose elements the results overwrite; results past
    /// the end of `places`, or with an empty place, get their own memory.
    evaluation(const node& n, std::span<const tensor> operands, std::vector<tensor_meta> metas,
        const run_state& state, std::vector<tensor> places = {})
        : node_(&n),
          operands_(operands),
          metas_(std::move(metas)),
          results_(metas_.size()),
          state_(state),
          places_(std::move(places)) {
        places_.resize(metas_.size());
    }

    [[nodiscard]] const node& current_node() const { return *node_; }
    [[nodiscard]] const tensor& input(value v) const {
        for (std::size_t i = 0; i != operands_.size(); ++i) {
            if (node_->operand(i) == v) return operands_[i];
        }
        return none_;
    }
    [[nodiscard]] const tensor* input(const std::optional<value>& v) const {
        return v ? &input(*v) : nullptr;
    }

    [[nodiscard]] bool is_known(std::size_t i) const { return metas_[i].dtype != dtype::unknown; }
    [[nodiscard]] dtype output_type(std::size_t i = 0) const { return metas_[i].dtype; }
    [[nodiscard]] extents output_shape(std::size_t i = 0) const {
        return extents(metas_[i].shape.begin(), metas_[i].shape.end());
    }
    /// Returns result `i` for writing; its elements are zero at first.
    [[nodiscard]] tensor& output(std::size_t i = 0) {
        if (results_[i].type() != dtype::unknown) return results_[i];
        if (has_place(i)) {
            results_[i] = places_[i];
            std::ranges::fill(results_[i].mutable_bytes(), std::byte{});
        } else {
            results_[i] = tensor(output_type(i), output_shape(i));
        }
        return results_[i];
    }
    /// Returns result `i` with the elements that its place holds already: a buffer that no node uses yet may
    /// share its place with a tensor that is still needed.
    [[nodiscard]] const tensor& unwritten(std::size_t i = 0) {
        if (has_place(i)) results_[i] = places_[i];
        return output(i);
    }
    /// Sets a result that shares its elements with an operand, or that was computed in full; it is converted
    /// to the dtype and shape of the node's result.
    void set_output(std::size_t i, const tensor& t) {
        if (t.size() != elements_in(output_shape(i)))
            return fail(invalid({message_prefix(*node_), "a result has the wrong number of elements"}));
        const tensor whole = t.cast(output_type(i)).reshaped(output_shape(i));
        if (has_place(i)) {
            results_[i] = places_[i];
            const std::size_t bytes = std::min(whole.byte_count(), results_[i].byte_count());
            if (bytes != 0) std::memmove(results_[i].mutable_bytes().data(), whole.bytes().data(), bytes);
        } else {
            results_[i] = whole;
        }
    }
    void set_output(const tensor& t) { set_output(0, t); }
    [[nodiscard]] std::size_t output_count() const { return results_.size(); }

    /// Returns the current state of result `i`, for an op that continues from it.
    [[nodiscard]] const tensor& result_so_far(std::size_t i) const { return results_[i]; }

    [[nodiscard]] const run_state& state() const { return state_; }
    [[nodiscard]] variable_store& variables() const { return *state_.variables; }

    void fail(error e) {
        if (!error_) error_ = std::move(e);
    }
    /// Fails because the data breaks a rule of the op, such as an index out of range.
    void fail(std::string_view message) { fail(malformed(message_prefix(*node_).append(message))); }
    [[nodiscard]] bool failed() const { return error_.has_value(); }

    [[nodiscard]] result<std::vector<tensor>> take_results() {
        if (error_) return *std::move(error_);
        for (std::size_t i = 0; i != results_.size(); ++i) {
            if (is_known(i)) static_cast<void>(output(i));
        }
        return std::move(results_);
    }

private:
    [[nodiscard]] bool has_place(std::size_t i) const { return places_[i].type() != dtype::unknown; }

    const node* node_;
    std::span<const tensor> operands_;
    std::vector<tensor_meta> metas_;
    std::vector<tensor> results_;
    run_state state_;
    std::vector<tensor> places_;
    std::optional<error> error_;
    tensor none_;
};

/// Matches ops with a kernel: satisfied if evaluate(Op, args<Op>, evaluation&) is declared.
template <class Op>
concept evaluable = op_tag<Op> && requires(const args<Op>& a, evaluation& e) { evaluate(Op{}, a, e); };

namespace detail {
template <op_tag Op>
void evaluate_erased(const void* arguments, evaluation& e) {
    evaluate(Op{}, *static_cast<const args<Op>*>(arguments), e);
}
template <op_tag Op>
constexpr evaluation_kernel kernel_or_null() {
    if constexpr (evaluable<Op>) {
        return &evaluate_erased<Op>;
    } else if constexpr (op_variant<Op>) {  // its arguments are laid out as its base's
        return kernel_or_null<base_of<Op>>();
    } else {
        return nullptr;
    }
}
template <class List>
struct kernel_table_of;
template <class... Ops>
struct kernel_table_of<ops<Ops...>> {
    static constexpr std::array<evaluation_kernel, sizeof...(Ops)> value{kernel_or_null<Ops>()...};
};
template <class Dialect>
[[nodiscard]] evaluation_kernel kernel_in(const op_info& op) {
    return kernel_table_of<typename Dialect::all_ops>::value[op.index];
}
}  // namespace detail

/// The kernels of a set of dialects. Naming it links all of them into the program.
template <class... Dialects>
[[nodiscard]] evaluation_kernel find_kernel(const op_info& op) {
    evaluation_kernel kernel = nullptr;
    const auto look_in = [&]<class D>() {
        if (op.dialect == &info_of_dialect<D>) kernel = detail::kernel_in<D>(op);
    };
    (look_in.template operator()<Dialects>(), ...);
    return kernel;
}

/// Returns the kernel of one of Headrace's ops, or null; defined with the functions of eval/evaluator.hpp.
[[nodiscard]] evaluation_kernel kernel_of_headrace(const op_info& op);

/// Computes one of Headrace's ops in the kernel of a similar op: the tensors that `a` names must be operands
/// of the node, and its results those that inference gives for `a`.
template <op_tag Op>
void evaluate_as(const args<Op>& a, evaluation& e) {
    kernel_of_headrace(info_of<Op>)(&a, e);
}

/// The kernels and inference rules of user-defined dialects, for run_graph and headrace::execute. Both must
/// have been included.
template <class... Dialects>
inline constexpr own_operators operators_of{&find_kernel<Dialects...>, &find_rule<Dialects...>};

}  // namespace headrace::eval

namespace headrace {
using eval::evaluate_as;
using eval::evaluation;
using eval::operators_of;
using eval::variable_store;
}  // namespace headrace

#endif
