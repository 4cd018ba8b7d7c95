// SPDX-License-Identifier: MIT
// Defines headrace::pt2::run_time_reader, which reads ops whose index or size depends on a tensor's elements.
#ifndef HEADRACE_IO_PT2_RUN_TIME_HPP
#define HEADRACE_IO_PT2_RUN_TIME_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>

#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/pt2/masks.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// PyTorch exports `x[i]`, where i is a tensor without dimensions, as a number that it takes out of i,
/// item(i), and select(x, 0, item). The reader makes it index.Tensor(x, [i]), which selects the same element
/// and takes its index from a tensor. Similarly, the size of `x[mask]` depends on the mask; for a constant
/// mask, it is known.
class run_time_reader {
public:
    run_time_reader(scope& names, json_parser& json, symbol_table& symbols, constant_truth truth,
        std::pmr::memory_resource* scratch);

    /// Returns the node that computes the result of such a call; null if the call is of another kind, or if
    /// the values that it depends on are not known.
    node* read(std::string_view target, std::string_view inputs, std::string_view result);

    /// Returns the only element of a tensor as a tensor without dimensions. It is a copy: the tensor may be
    /// written in place later.
    value element_of(value tensor);

private:
    // The arguments of these calls; numbers that are not given have the schemas' defaults.
    struct selection {
        value self{};
        std::int64_t dim = 0;
        std::int64_t step = 1;
        value start{};
        bool is_range = true;
    };

    node* select(std::string_view inputs, std::string_view result);
    value as_int64(value element);
    value range(value start, std::int64_t count, std::int64_t step);

    node* index(std::string_view inputs, std::string_view result);

    node* select_masked(std::string_view inputs, std::string_view result);
    node* find_nonzero(std::string_view inputs, std::string_view result);
    void read_two(
        std::string_view inputs, std::string_view first, value& a, std::string_view second, value& b);

    // Sets the size that the export left open, now that the number of selected elements is known.
    bool set_size(std::string_view result, std::size_t count);

    scope& names_;
    json_parser& json_;
    symbol_table& symbols_;
    graph& graph_;
    mask_reader masks_;
    argument_converter convert_;
    std::pmr::memory_resource* scratch_;
};

}  // namespace headrace::pt2

#endif
