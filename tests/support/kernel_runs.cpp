// SPDX-License-Identifier: MIT
// Defines the functions of kernel_runs.hpp.
#include "kernel_runs.hpp"
#include "drawn_cases.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/op/op_query.hpp>

namespace headrace::kernel_test {

int_list dice::order(std::size_t rank) {
    std::vector<std::int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    shape_builder order;
    for (const std::int64_t axis : axes) order.push_back(axis);
    return int_list(order);
}

value integers(program& p, dtype type, const int_list& shape, const std::vector<std::int64_t>& numbers) {
    return create_constant(p.g, {type, shape, {}}, nullptr, [&](std::span<std::byte> data) {
        const std::size_t width = traits_of(type).bits / 8U;
        for (std::size_t i = 0; i * width != data.size(); ++i)
            std::memcpy(&data[i * width], &numbers[i], width);
    });
}
value number(program& p, dtype type, std::int64_t n) { return integers(p, type, {1}, {n}); }
value random_integers(
    program& p, dice& d, dtype type, const int_list& shape, std::int64_t lowest, std::int64_t highest) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(element_count(shape)));
    for (std::int64_t& n : numbers) n = d.from(lowest, highest);
    return integers(p, type, shape, numbers);
}
value shape_of(program& p, const int_list& sizes) { return p.make<tosa::const_shape>({.values = sizes}); }

scale scale_of(double factor) {
    constexpr int bits = 31;
    int exponent = 0;
    auto multiplier =
        static_cast<std::int64_t>(std::nearbyint(std::ldexp(std::frexp(factor, &exponent), bits)));
    if (multiplier == std::int64_t{1} << bits) {
        multiplier /= 2;
        ++exponent;
    }
    return {multiplier, bits - exponent};
}

namespace {

value rescaled(program& p, value v, const narrowing& to, std::int64_t input_zp, dtype type) {
    std::vector<std::int64_t> multipliers, shifts;
    for (const double factor : to.factors) {
        const scale s = scale_of(factor);
        multipliers.push_back(s.multiplier);
        shifts.push_back(s.shift);
    }
    const auto count = static_cast<std::int64_t>(to.factors.size());
    return p.make<tosa::rescale>({.input = v,
        .multiplier = integers(p, dtype::int32, {count}, multipliers),
        .shift = integers(p, dtype::int8, {count}, shifts),
        .input_zp = number(p, meta_of(v)->dtype, input_zp),
        .output_zp = number(p, type, to.zero_point),
        .rounding_mode = to.rounding,
        .per_channel = count != 1});
}

}  // namespace

value widened(program& p, value v, std::int64_t zero_point, double factor) {
    return rescaled(p, v, {{factor}}, zero_point, dtype::int32);
}
value narrowed(program& p, value sum, const narrowing& to) { return rescaled(p, sum, to, 0, dtype::int8); }
std::vector<double> factors_around(dice& d, double factor, std::int64_t channels) {
    std::vector<double> factors;
    for (std::int64_t i = 0; i != channels; ++i)
        factors.push_back(factor * (0.5 + static_cast<double>(d.from(0, 1'000'000)) * 1e-6));
    return factors;
}

namespace {

std::pmr::string difference_of(const tensor& before, const tensor& after, std::int64_t allowed) {
    if (before.shape() != after.shape() || before.type() != after.type()) return "another type or shape";
    for (std::int64_t i = 0; i != before.size(); ++i) {
        if (std::abs(before.integer(i) - after.integer(i)) <= allowed) continue;
        return "element " + number_text(i) + ": " + number_text(before.integer(i)) + " became " +
            number_text(after.integer(i));
    }
    return {};
}

std::pmr::string fault_of(const graph& g, const kernel_demand& demand) {
    const auto sound = verify<tosa::dialect, aten::dialect, cortex_m::dialect, memory::dialect>(
        g, {.metadata_required = true});
    if (!sound) return "not sound: " + sound.error().message;
    for (const node& n : g.nodes()) {
        if (is_of_dialect<tosa::dialect>(n) && !is<tosa::const_shape>(n) && !demand.leaves_tosa)
            return std::pmr::string(n.op->name) + " is left";
    }
    return demand.check ? demand.check(g) : std::pmr::string();
}

tensor random_codes(std::mt19937& random, const tensor_meta& meta) {
    if (is_boolean(meta.dtype)) return random_tensor(random, meta);
    const std::int64_t most = meta.dtype == dtype::int8 ? 128 : 1 << 24;
    std::uniform_int_distribution<std::int64_t> any(-most, most - 1);
    std::vector<std::int64_t> codes(static_cast<std::size_t>(meta.elements()));
    for (std::int64_t& c : codes) c = any(random);
    return tensor::of(meta.dtype, extents(meta.shape.begin(), meta.shape.end()), codes);
}

std::pmr::string run_once(const random_program& build, pass_runners passes, const kernel_demand& demand,
    const target_spec& core, unsigned seed) {
    const auto whole = [&](program& p) {
        dice d(seed);
        p.g.set_target(core);
        p.output(build(p, d));
    };
    program before;
    testing::builder{whole}(before);
    if (!before.fault.empty()) return "inference: " + before.fault;
    std::vector<tensor> inputs;
    std::mt19937 random(seed);
    for (const node& n : before.g.inputs()) inputs.push_back(random_codes(random, *n.results[0].meta));
    const auto expected = run_graph(before.g, inputs);
    if (!expected) return "before: " + expected.error().message;
    const std::pmr::string fault =
        testing::check_runs(whole, passes, inputs, [&](graph& g, std::span<const tensor> results) {
            const std::pmr::string wrong = fault_of(g, demand);
            return wrong.empty() ? difference_of(expected.value()[0], results[0], demand.difference) : wrong;
        });
    return fault.empty() ? fault : fault + "\nthe graph before it:\n" + listing(before.g);
}

}  // namespace

std::pmr::string run_on_cores(const random_program& build, pass_runners passes, const kernel_demand& demand) {
    const unsigned programs = testing::drawn_cases(demand.programs);
    for (const target_spec& core : all_cores) {
        for (unsigned seed = 0; seed != programs; ++seed) {
            const std::pmr::string fault = run_once(build, passes, demand, core, seed);
            if (fault.empty()) continue;
            return "program " + number_text(seed) + " for core " + number_text(&core - all_cores.data()) +
                ", " + fault;
        }
    }
    return {};
}

std::vector<std::int64_t> buffers_of(const graph& g) {
    std::vector<std::int64_t> bytes;
    for (const node& n : g.nodes_of(info_of<memory::alloc>)) bytes.push_back(n.results[0].meta->shape[0]);
    return bytes;
}

}  // namespace headrace::kernel_test
