// SPDX-License-Identifier: MIT
// Defines headrace::graph_builder, with which a program builds a graph by hand.
#ifndef HEADRACE_INFER_GRAPH_BUILDER_HPP
#define HEADRACE_INFER_GRAPH_BUILDER_HPP

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Adds nodes at the end of a graph; inference gives each result its dtype and shape:
///
///     graph g;
///     graph_builder b(g);
///     const value x = b.input("x", {1, 8});
///     b.output({b.make<aten::relu>({.self = x})});
///
/// After an error nothing more is added, and values are null; `status` returns that error.
class graph_builder {
public:
    explicit graph_builder(graph& g) : graph_(&g) {}

    value input(
        std::string_view name, std::initializer_list<std::int64_t> shape, dtype type = dtype::float32) {
        if (!status_) return {};
        const value v = graph_->create<builtin::placeholder>({}).result();
        graph_->set_meta(v, {type, int_list(shape), {}});
        graph_->set_name(v, name);
        return v;
    }

    /// Makes a node with one result. The caller must pass values of this graph.
    template <inferable Op>
        requires(Op::results == 1)
    value make(const args<Op>& a) {
        const std::vector<value> results = make_all<Op>(a);
        return results.empty() ? value{} : results[0];
    }

    /// Makes a node, and returns all of its results.
    template <inferable Op>
    std::vector<value> make_all(const args<Op>& a) {
        if (!status_) return {};
        inference inferred(graph_->arena());
        status_ = infer_op<Op>(a, inferred);
        if (!status_) return {};
        node& n = graph_->create(info_of<Op>, &a, inferred.results().size());
        std::vector<value> results;
        for (std::size_t i = 0; i != inferred.results().size(); ++i) {
            results.push_back({&n, static_cast<std::uint32_t>(i)});
            graph_->set_meta(results.back(), inferred.results()[i]);
        }
        return results;
    }

    void output(std::initializer_list<value> values) {
        if (status_) graph_->create<builtin::output>({.values = {std::data(values), values.size()}});
    }

    /// Returns the first error of inference, if there was one.
    [[nodiscard]] const result<void>& status() const { return status_; }

private:
    graph* graph_;
    result<void> status_{};
};

}  // namespace headrace

#endif
