// SPDX-License-Identifier: MIT
// Defines headrace::expanded, with which tests check that passes build what Ethos-U55 lacks from what it has.
#ifndef HEADRACE_TESTS_SUPPORT_U55_TEST_HPP
#define HEADRACE_TESTS_SUPPORT_U55_TEST_HPP

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <headrace/target/u55_verify.hpp>

#include "quantized_test.hpp"

namespace headrace {

inline constexpr target_spec u55_target = *parse_target("TOSA-1.0+INT+int16+cf+u55");

/// Returns the first rule of Ethos-U55 that a graph breaks; empty if it breaks none.
[[nodiscard]] inline std::pmr::string u55_fault(const graph& g) {
    for (const node& n : g.nodes()) {
        if (!is_of_dialect<tosa::dialect>(n)) continue;
        if (std::pmr::string fault = u55::restriction(n); !fault.empty()) return fault;
    }
    return {};
}

using result_builder = std::function<value(program&)>;  // one type: tests compile once for all of them
using program_builder = std::function<void(program&)>;

/// Returns a program for Ethos-U55 whose output is the result of `build`.
[[nodiscard]] inline program_builder for_u55_target(const result_builder& build) {
    return [build](program& p) {
        p.g.set_target(u55_target);
        p.output(build(p));
    };
}

/// Empty if Ethos-U55 lacks something that the program of `build` needs, and the passes build all of it from
/// what the target has, in both drivers and with the same results for `inputs`, which are random by default.
/// The first pass must rewrite something; the others lower what it makes.
template <class First, class... Passes>
[[nodiscard]] std::pmr::string expanded(const result_builder& build, const std::vector<tensor>& inputs = {}) {
    const program_builder whole = for_u55_target(build);
    program before, after;
    const graph& given = lowered<>(before, whole);
    if (!before.fault.empty()) return "inference: " + before.fault;
    if (u55_fault(given).empty()) return "Ethos-U55 has all of it";
    const std::pmr::string fault = u55_fault(lowered<First, Passes...>(after, whole));
    if (!fault.empty()) return fault;
    return compare_runs<First, may_rewrite<Passes>...>(
        whole, inputs.empty() ? random_inputs(whole) : inputs, 0);
}

/// A tensor of those integers.
[[nodiscard]] inline tensor integers(
    dtype type, const int_list& shape, const std::vector<std::int64_t>& numbers) {
    return tensor::of(type, extents(shape.begin(), shape.end()), numbers);
}
/// Returns a tensor of random numbers of a dtype, including its min, its max and those around 0.
[[nodiscard]] inline tensor any_integers(dtype type, const int_list& shape, unsigned seed) {
    std::mt19937 random(seed);
    const auto [lowest, highest] = range_of(type);
    std::vector<std::int64_t> numbers{lowest, highest, 0, -1, 1, lowest + 1, highest - 1};
    const auto count = static_cast<std::size_t>(element_count(shape));
    std::uniform_int_distribution<std::int64_t> any(lowest, highest);
    while (numbers.size() < count) numbers.push_back(any(random));
    numbers.resize(count);
    std::shuffle(numbers.begin(), numbers.end(), random);
    return integers(type, shape, numbers);
}

}  // namespace headrace

#endif
