// SPDX-License-Identifier: MIT
// Defines headrace::detail::order_problem, a part of a graph whose nodes are to be ordered.
#ifndef HEADRACE_MEMORY_ORDER_PROBLEM_HPP
#define HEADRACE_MEMORY_ORDER_PROBLEM_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include <headrace/base/pmr_vector.hpp>

namespace headrace::detail {

/// Nodes that may be executed in any order that their operands allow, without the graph: items with sizes in
/// bytes, numbered from 0 in their present order. An item makes buffers, and reads buffers of others; a
/// buffer is freed after its last reader. Two equal problems have the same solution.
struct order_problem {
    using numbers = pmr_vector<std::uint32_t>;

    struct item {
        std::uint64_t made, extra;
        std::uint64_t dead;  // bytes of results that nothing reads

        friend bool operator==(const item&, const item&) = default;
    };
    // A list of numbers for each item or buffer, all in one array.
    struct lists {
        numbers ends{}, all{};

        [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t i) const {
            const std::size_t begin = i == 0 ? 0 : ends[i - 1];
            return std::span(all).subspan(begin, ends[i] - begin);
        }
        void end_list() { ends.push_back(static_cast<std::uint32_t>(all.size())); }
        // Returns, for each of `count` numbers, the lists that contain it.
        [[nodiscard]] lists inverse(std::size_t count) const;
        friend bool operator==(const lists&, const lists&) = default;
    };
    std::uint64_t live = 0;
    pmr_vector<item> items{};
    // Buffers that are read here, and freed after their last reader.
    pmr_vector<std::uint64_t> buffer_bytes{};
    lists reads{}, sources{};  // by item
    lists users{};             // by item
    lists readers{};           // by buffer

    friend bool operator==(const order_problem&, const order_problem&) = default;

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(items.size()); }
    // Returns the number of readers of each buffer.
    [[nodiscard]] numbers reader_counts() const {
        numbers counts(buffer_bytes.size());
        for (std::size_t b = 0; b != counts.size(); ++b)
            counts[b] = static_cast<std::uint32_t>(readers[b].size());
        return counts;
    }
    [[nodiscard]] std::uint64_t peak_of(const numbers& order) const;
    [[nodiscard]] numbers deepest_first() const;
    [[nodiscard]] numbers smallest_first() const;
};

}  // namespace headrace::detail

#ifndef HEADRACE_COMPILED
#include <headrace/memory/order_problem_definition.hpp>
#endif

#endif
