// SPDX-License-Identifier: MIT
// Defines headrace::testing::integer_graph, a small TOSA graph, and functions that execute graphs and compare
// what is computed with what was bounded.
#ifndef HEADRACE_TESTS_PROVE_PROVEN_HPP
#define HEADRACE_TESTS_PROVE_PROVEN_HPP

#include <catch2/catch.hpp>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/prove/analysis.hpp>
#include <headrace/prove/certificate.hpp>

#include "../support/program.hpp"

namespace headrace::testing {

/// A program of integers whose constants are given as numbers.
struct integer_graph : program {
    value numbers(
        dtype type, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& elements) {
        const tensor t = tensor::of(type, shape, elements);
        return create_constant(g, {type, int_list(shape), {}}, nullptr, [&](std::span<std::byte> data) {
            std::ranges::copy(t.bytes().first(data.size()), data.begin());
        });
    }
    value number(dtype type, std::int64_t x, std::size_t rank = 1) {
        return numbers(type, std::vector<std::int64_t>(rank, 1), {x});
    }
    value shape(std::initializer_list<std::int64_t> sizes) {
        return make<tosa::const_shape>({.values = int_list(sizes)});
    }
    /// An input whose user keeps it within these numbers.
    value limited_input(dtype type, const int_list& sizes, std::int64_t low, std::int64_t high) {
        const value v = input(type, sizes);
        g.annotate(*v.producer, signature_quantization{1, 0, low, high});
        return v;
    }
    value clamped(value v, std::int64_t low, std::int64_t high) {
        return make<tosa::clamp>({.input = v, .min_val = scalar(low), .max_val = scalar(high)});
    }
    value rescaled(value v, dtype to, std::int64_t multiplier, std::int64_t shift_by) {
        const value factor = number(dtype::int32, multiplier);
        const value shift = number(dtype::int8, shift_by);
        const value in_zp = number(meta_of(v)->dtype, 0);
        const value out_zp = number(to, 0);
        node& n = g.create<tosa::rescale>(
            {.input = v, .multiplier = factor, .shift = shift, .input_zp = in_zp, .output_zp = out_zp});
        g.set_meta(n.result(), {to, meta_of(v)->shape, {}});
        return n.result();
    }
    void end(value v) {
        output(v);
        finish();
        CHECK(fault.empty());
    }
};

/// Random inputs of the declared ranges, and those at their ends.
inline std::vector<tensor> random_inputs(const graph& g, std::mt19937& random) {
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) {
        const tensor_meta& meta = *n.results[0].meta;
        const interval range =
            prove::declared_range(n) & interval_of(is_integral(meta.dtype) ? meta.dtype : dtype::int16);
        std::uniform_int_distribution<std::int64_t> any(
            static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high));
        std::uniform_int_distribution<int> kind(0, 3);
        const int same = kind(random);
        std::vector<std::int64_t> elements(static_cast<std::size_t>(meta.elements()));
        for (std::int64_t& x : elements) {
            const int own = same == 3 ? kind(random) : same;
            x = own == 0 ? any(random) : static_cast<std::int64_t>(own == 1 ? range.low : range.high);
        }
        inputs.push_back(tensor::of(meta.dtype, extents(meta.shape.begin(), meta.shape.end()), elements));
    }
    return inputs;
}

/// Executes a graph node by node, and returns the first element that is outside of its bounds.
inline std::string executed_outside(
    const graph& g, const prove::findings& found, const std::vector<tensor>& inputs) {
    std::map<const node*, std::vector<tensor>> known;
    std::size_t given = 0;
    for (const node& n : g.inputs()) known[&n] = {inputs[given++]};
    for (const node& n : g.nodes()) {
        if (is<builtin::output>(n)) continue;
        if (!is<builtin::placeholder>(n)) {
            std::vector<tensor> operands;
            for (const edge& e : n.operand_edges()) operands.push_back(known.at(e.source)[e.slot->result]);
            auto done = evaluate_node(n, operands);
            if (!done) return std::string(done.error().message);
            known[&n] = std::move(done).value();
        }
        const auto bounds = found.spreads.find(&n);
        if (bounds == found.spreads.end()) continue;
        for (std::size_t r = 0; r != bounds->second.size(); ++r) {
            const prove::spread& s = bounds->second[r];
            const tensor& t = known[&n][r];
            std::int64_t after = 1;
            if (!s.is_uniform())
                for (std::size_t d = s.axis + 1; d < t.rank(); ++d) after *= t.dim(d);
            for (std::int64_t i = 0; i != t.size(); ++i) {
                const auto at = s.is_uniform() ? 0 : static_cast<std::size_t>(i / after % t.dim(s.axis));
                const auto x =
                    is_floating(t.type()) ? static_cast<bound>(t.real(i)) : static_cast<bound>(t.integer(i));
                if (!s.at(at).contains(x) && x == x)
                    return std::string(n.op->name) + ": " + std::to_string(static_cast<double>(x)) + " at " +
                        std::to_string(i);
            }
        }
    }
    return {};
}
inline void check_executions(const graph& g, int runs = 60) {
    const prove::findings found = prove::analyze(g);
    std::mt19937 random(7);
    for (int i = 0; i != runs; ++i) {
        const std::string outside = executed_outside(g, found, random_inputs(g, random));
        REQUIRE(outside.empty());
    }
}

}  // namespace headrace::testing

#endif
