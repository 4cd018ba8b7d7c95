// SPDX-License-Identifier: MIT
// Tests all passes with random programs of all ops, which are executed before and after each pass of the
// standard pipeline and of the pipeline to ExecuTorch's kernels, in both drivers, for all kinds of targets.
//
// HEADRACE_RANDOM_PROGRAMS sets the number of programs, HEADRACE_RANDOM_SEED the first seed: program k of
// seed s is program 0 of seed s + k. For ten thousand: `HEADRACE_RANDOM_PROGRAMS=10000 test_lowering
// "[random]"`. A failure is printed with its seed and the smallest program that still shows it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/target_text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/ranges/integer_width.hpp>
#include <headrace/infer/ranges/value_ranges.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/executorch_pipeline.hpp>
#include <headrace/lowering/integer_check.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/rewrite/emit.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/signature_tensors.hpp>
#include <headrace/show/sample_arguments.hpp>

#include "../support/drawn_cases.hpp"

using namespace headrace;
using namespace headrace::samples;

namespace {

enum class flavour : unsigned char { floats, whole_numbers, quantized, mixed, all_magnitudes };
constexpr unsigned flavours = 5;
constexpr std::int64_t most_elements = 1024;
constexpr double largest_number = 1e4;  // so that int64 fits int32, and no rounding is large
constexpr std::string_view executorch_runtime = "kernels of ExecuTorch";  // in addition to TOSA's targets

/// A constant with a tensor's elements.
value constant_of(graph& g, const tensor& t, const tensor_meta& meta, node* before) {
    return create_constant(g, meta, before, [&](std::span<std::byte> data) {
        std::memcpy(data.data(), t.bytes().data(), std::min(data.size(), t.bytes().size()));
    });
}

/// The ops whose results depend only on their operands.
const std::vector<const op_info*>& pure_ops() {
    static const std::vector<const op_info*> all = [] {
        std::vector<const op_info*> ops;
        const auto add = [&](const op_info* op) {
            const std::string_view name = op->name.substr(0, op->name.rfind('.'));
            // Its second result is for its gradient only, and differs between devices.
            if (name == "aten.log_sigmoid_forward") return;
            if (!op->has(trait::impure | trait::host_number) && !name.ends_with('_')) ops.push_back(op);
        };
        std::ranges::for_each(op_table<aten::dialect>, add);
        std::ranges::for_each(op_table<dim_order_ops::dialect>, add);
        return ops;
    }();
    return all;
}

/// Numbers that occur in users' models and that are easily computed differently than by PyTorch.
constexpr double extreme_floats[]{0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3e7, -3e7, 0x1p24, 0x1p-24, 1e-40, -1e-40,
    1e9, 0x1p31, -0x1p31, 65504.0, 3.4e38, -3.4028234663852886e38, 1e30, -1e-30, 0x1p62, 100.0, INFINITY,
    -INFINITY, NAN};
constexpr double extreme_integers[]{0.0, 1.0, -1.0, 2.0, 5.0, -3.0, 255.0, 32768.0, 0x1p24, -0x1p24, 0x1p30,
    2147483647.0, -2147483648.0, 1000003.0};

bool name_is(const op_info& op, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, op.name) != names.end();
}

/// True for numbers that passes have no reason to compute differently: finite, of a type that TOSA has, and
/// not subnormal, because subnormals have infinite reciprocals and targets may flush them to 0.
bool is_tame(const tensor& t, bool any_magnitude) {
    const dtype type = t.type();
    const bool known = type == dtype::float32 || type == dtype::int64 || type == dtype::int32 ||
        type == dtype::int8 || type == dtype::boolean;
    if (!known || t.size() > most_elements) return false;
    if (any_magnitude) return true;
    for (std::int64_t i = 0; i != t.size(); ++i) {
        if (!(std::abs(t.real(i)) <= largest_number)) return false;
        if (t.real(i) != 0 && std::abs(t.real(i)) < std::numeric_limits<float>::min()) return false;
    }
    return true;
}

/// The ops that compute like PyTorch for floats of any magnitude, infinities and NaN. Decompositions of other
/// ops have intermediate squares, powers and quotients that exceed float32.
bool takes_all_floats(const op_info& op) {
    using namespace aten;
    using enum trait;
    static constexpr auto known = ops_in<add_tensor, sub_tensor, mul_tensor, mul_scalar, neg,
        headrace::aten::abs, relu, aten::maximum, aten::minimum, aten::clamp, clamp_min, clamp_max,
        where_self, masked_fill_scalar, masked_fill_tensor, amax, amin, max_dim, min_dim, argmax, argmin,
        index_put, index_copy, scatter_src, scatter_value, full_like, hardtanh, isfinite, isinf, isnan, sign,
        aten::floor, aten::ceil, aten::trunc, constant_pad_nd>;
    return known.contains(op) ||
        op.has(moving | copying | casting | comparing | gathering | gives_number | gives_zeros | gives_ones);
}

/// True if alpha is not 1. Whether alpha · b overflows in a + alpha · b depends on fused operations in
/// PyTorch's build.
bool has_alpha(const node& n) {
    if (is<aten::add_tensor>(n)) return args_of<aten::add_tensor>(n).alpha.to_double() != 1;
    return is<aten::sub_tensor>(n) && args_of<aten::sub_tensor>(n).alpha.to_double() != 1;
}

struct random_program {
    graph g;
    std::vector<tensor> inputs;
};

/// Adds nodes whose operands are mostly results of others; each is executed as it is added.
class generator {
public:
    generator(random_program& p, flavour kind, unsigned seed)
        : program_(p), kind_(kind), random_(seed), small_(random_) {}

    void generate() {
        const std::size_t nodes = 3 + random_() % 28;
        made(operand{first_type(), {2, 3, 4}});
        commit();
        for (std::size_t added = 0, tries = 0; added < nodes && tries != nodes * 200; ++tries) {
            if (attempt()) ++added;
        }
        std::vector<value> results;
        for (std::size_t i = pool_.size(); i-- != 0 && results.size() != 3;) {
            const node& n = *pool_[i].v.producer;
            const bool computed = !is<builtin::placeholder>(n) && !is<builtin::constant>(n);
            if (computed && n.first_use == nullptr) results.push_back(pool_[i].v);
        }
        if (results.empty()) results.push_back(pool_[0].v);
        program_.g.create<builtin::output>({.values = list<value>(results)});
    }

    /// Returns the first value with elements outside its computed interval; empty if there is none.
    [[nodiscard]] std::string value_out_of_range() const {
        const value_ranges ranges(program_.g);
        for (const known& k : pool_) {
            const interval held = ranges.held_by(k.v);
            for (std::int64_t i = 0; i != k.t.size(); ++i) {
                const bound x = is_floating(k.t.type()) ? static_cast<bound>(k.t.real(i))
                                                        : static_cast<bound>(k.t.integer(i));
                if (x == x && !held.contains(x))
                    return std::string(k.v.producer->op->name) + " gives " + std::to_string(x) +
                        ", not in [" + std::to_string(held.low) + ", " + std::to_string(held.high) + "]\n" +
                        std::string(listing(program_.g));
            }
        }
        return {};
    }

private:
    struct known {
        value v;
        tensor t;
    };

    bool chance(unsigned of) { return random_() % of == 0; }
    dtype first_type() {
        if (kind_ == flavour::all_magnitudes)
            return std::array{dtype::int32, dtype::int64, dtype::float32}[random_() % 3];
        return kind_ == flavour::whole_numbers ? dtype::int32 : dtype::float32;
    }

    tensor random_elements(const operand& spec) {
        tensor t(spec.type, spec.shape);
        std::vector<double> numbers(static_cast<std::size_t>(t.size()));
        std::normal_distribution<double> normal;
        for (double& x : numbers) {
            x = spec.type == dtype::float32 ? normal(random_) : static_cast<double>(random_() % 5) - 2;
            if (kind_ == flavour::all_magnitudes && chance(2)) x = extreme_number(spec.type);
            if (spec.type == dtype::boolean) x = static_cast<double>(random_() % 2);
        }
        t.assign(numbers);
        return t;
    }
    double extreme_number(dtype type) {
        if (is_floating(type)) return extreme_floats[random_() % std::size(extreme_floats)];
        const double x = extreme_integers[random_() % std::size(extreme_integers)];
        return type == dtype::int32 || type == dtype::int64 ? x : std::clamp(x, 0.0, 127.0);
    }
    // Makes a new input or constant.
    value made(const operand& spec) {
        graph& g = program_.g;
        const tensor t = random_elements(spec);
        const tensor_meta meta{spec.type, int_list(spec.shape), {}};
        if (!pool_.empty() && chance(2)) {
            const value v = constant_of(g, t, meta, nullptr);
            pending_.push_back({v, t});
        } else {
            const value v = g.create<builtin::placeholder>({}).result();
            g.set_meta(v, meta);
            pending_.push_back({v, t});
        }
        return pending_.back().v;
    }
    value operand_for(const operand& spec) {
        std::vector<value> fitting;
        for (const known& k : pool_) {
            if (k.t.type() == spec.type && k.t.shape() == spec.shape) fitting.push_back(k.v);
        }
        if (fitting.empty() || chance(8)) return made(spec);
        return fitting[random_() % fitting.size()];
    }
    const tensor* tensor_of(value v) const {
        for (const auto* all : {&pool_, &pending_}) {
            for (const known& k : *all) {
                if (k.v == v) return &k.t;
            }
        }
        return nullptr;
    }
    // Returns the operands' tensors: each is in the pool, or has just been made.
    std::vector<tensor> operands_of(const node& n) const {
        std::vector<tensor> all;
        for (const edge& e : n.operand_edges()) all.push_back(*tensor_of(*e.slot));
        return all;
    }

    bool attempt() {
        graph& g = program_.g;
        const known base = pool_[random_() % pool_.size()];
        const op_info& op = *pure_ops()[random_() % pure_ops().size()];
        if (std::min<std::size_t>(base.t.shape().size(), 6) != base.t.shape().size()) return false;
        const arguments all = small_.draw(op, base.t.type(), base.t.shape());
        for (std::size_t i = 0; i != all.size(); ++i) {
            for (const auto& t : all[i].tensors) {
                if (t && !is_small(*t)) return false;
            }
            // The root of a norm of order p magnifies the rounding of its sum by 1/p, in PyTorch as well.
            // Distances by matrix products (1) are differences of squares, which cancel to 0 only by chance.
            const field_info& field = op.fields[i];
            const bool is_order = field.name == "p" && field.kind == field_kind::floating;
            if (is_order && all[i].reals[0] < 0.1) return false;
            if (field.name == "compute_mode" && !all[i].absent && all[i].ints[0] == 1) return false;
        }
        const argument_struct given(op, all, [this](const operand& spec) { return operand_for(spec); });
        const auto count = op.results == variadic_results ? 1U : static_cast<unsigned>(op.results);
        node* n = &g.create(op, given.data(), count);
        inference inferred(g.arena());
        if (!infer_node(*n, inferred) || !all_small(inferred)) return withdraw(*n);
        if (op.results == variadic_results) {
            g.erase(*n);
            n = &g.create(op, given.data(), inferred.results().size());
        }
        for (std::uint32_t i = 0; i != n->result_count; ++i) g.set_meta(n->result(i), inferred.results()[i]);
        if (!is_defined(*n)) return withdraw(*n);
        auto results = evaluate_node(*n, operands_of(*n));
        const auto is_wanted = [&](const tensor& t) { return is_tame(t, kind_ == flavour::all_magnitudes); };
        if (!results || !std::ranges::all_of(results.value(), is_wanted)) return withdraw(*n);
        commit();
        for (std::uint32_t i = 0; i != n->result_count; ++i) {
            pool_.push_back({n->result(i), results.value()[i]});
            quantize_last();
        }
        return true;
    }
    static bool is_small(const operand& o) {
        std::int64_t count = 1;
        for (const std::int64_t size : o.shape) count *= size;
        return count <= most_elements;
    }
    static bool all_small(const inference& inferred) {
        return std::ranges::all_of(inferred.results(), [](const tensor_meta& m) {
            const auto count = m.checked_elements();
            return count && static_cast<std::int64_t>(*count) <= most_elements;
        });
    }
    // TOSA shifts by 0 to 31 bits (TOSA 1.0, 2.4.4); PyTorch accepts any number. Casts of numbers out of
    // range of the integer type are undefined in PyTorch's kernels (C++ [conv.fpint]), and saturate in TOSA.
    bool is_defined(const node& n) const {
        const op_info& op = n.op->functional();
        const std::vector<tensor> operands = operands_of(n);
        if (kind_ == flavour::all_magnitudes && (!takes_all_floats(op) || has_alpha(n))) {
            for (const tensor& t : operands) {
                if (is_floating(t.type()) && !is_tame(t, false)) return false;
            }
        }
        // PyTorch does not define the order of equal numbers, such as the minima that are left.
        const bool ranks = name_is(op,
            {"aten.topk.default", "aten.sort.default", "aten.sort.stable", "aten.argsort.default",
                "aten.argsort.stable", "aten.msort.default"});
        for (const tensor& t : operands) {
            const auto fits = [](double x) { return std::abs(x) < 0x1p31; };
            if (ranks && kind_ == flavour::all_magnitudes && !std::ranges::all_of(t.to<double>(), fits))
                return false;
        }
        // PyTorch resizes only uint8 among the integers, and does so in floats.
        if (op.has(trait::resampling) && !is_floating(operands[0].type()))
            return kind_ != flavour::all_magnitudes;
        if (n.result_count != 0 && n.results[0].meta->dtype == dtype::int8) {
            const auto fits = [](double x) { return x > -129 && x < 128; };
            for (const tensor& t : operands) {
                if (is_floating(t.type()) && !std::ranges::all_of(t.to<double>(), fits)) return false;
            }
        }
        // Casts of numbers that do not fit in 32 bits are not compared either.
        if (n.result_count != 0 && is_integral(n.results[0].meta->dtype) && !op.has(trait::reduction)) {
            const auto fits = [](double x) { return x >= -0x1p31 && x < 0x1p31; };
            for (const tensor& t : operands) {
                if (is_floating(t.type()) && !std::ranges::all_of(t.to<double>(), fits)) return false;
            }
        }
        if (!op.has(trait::on_bits) || !op.has(trait::on_numbers)) return true;  // not a shift
        for (std::int64_t i = 0; operands.size() == 2 && i != operands[1].size(); ++i) {
            if (operands[1].real(i) < 0 || operands[1].real(i) > 31) return false;
        }
        return true;
    }
    bool withdraw(node& n) {
        program_.g.erase(n);
        for (const known& k : pending_) program_.g.erase(*k.v.producer);
        pending_.clear();
        return false;
    }
    void commit() {
        for (const known& k : pending_) {
            if (is<builtin::placeholder>(*k.v.producer)) program_.inputs.push_back(k.t);
            pool_.push_back(k);
        }
        pending_.clear();
    }

    // Quantizes and dequantizes, with the pair of nodes that training and calibration leave.
    void quantize_last() {
        const known last = pool_.back();
        const bool wanted = kind_ == flavour::quantized || (kind_ == flavour::mixed && chance(2));
        if (!wanted || last.t.type() != dtype::float32) return;
        double largest = 1e-2;
        for (std::int64_t i = 0; i != last.t.size(); ++i)
            largest = std::max(largest, std::abs(last.t.real(i)));
        const double scale = static_cast<double>(static_cast<float>(largest / 100));
        const std::int64_t zero_point = static_cast<std::int64_t>(random_() % 21) - 10;
        graph& g = program_.g;
        node& q = g.create<quantized_decomposed::quantize_per_tensor>({.input = last.v,
            .scale = scale,
            .zero_point = zero_point,
            .quant_min = -128,
            .quant_max = 127,
            .dtype = dtype::int8});
        add_inferred(q);
        node& d = g.create<quantized_decomposed::dequantize_per_tensor>({.input = q.result(),
            .scale = scale,
            .zero_point = zero_point,
            .quant_min = -128,
            .quant_max = 127,
            .dtype = dtype::int8});
        add_inferred(d);
        pool_.erase(pool_.end() - 3, pool_.end() - 1);  // other nodes read only the dequantized value
    }
    void add_inferred(node& n) {
        inference inferred(program_.g.arena());
        REQUIRE(infer_node(n, inferred));
        program_.g.set_meta(n.result(), inferred.results()[0]);
        auto results = evaluate_node(n, operands_of(n));
        REQUIRE(results);
        pool_.push_back({n.result(), results.value()[0]});
    }

    random_program& program_;
    flavour kind_;
    std::mt19937 random_;
    small_arguments small_;
    std::vector<known> pool_;
    std::vector<known> pending_;
};

/// Returns what is wrong with results; empty if nothing is. Integers must be equal; quantized ones may differ
/// by as many steps as `--verify` allows, floats by the rounding of each op.
std::string difference(
    const std::vector<tensor>& expected, const std::vector<tensor>& got, const std::vector<double>& granted) {
    constexpr double tolerance = 1e-3;
    for (std::size_t k = 0; k != expected.size(); ++k) {
        const bool exact = !is_floating(expected[k].type());
        const double most = exact ? 0 : tolerance;
        const double off =
            largest_difference(std::span(&expected[k], 1), std::span(&got[k], 1), std::span(&granted[k], 1));
        if (!(off <= most)) return "output " + std::to_string(k) + " is off by " + std::to_string(off);
    }
    return {};
}

/// Makes a constant of factors around 1 + change, different for each element.
value rounding_factors(graph& g, const tensor_meta& meta, double change, node* before) {
    tensor factors(meta.dtype, extents(meta.shape.begin(), meta.shape.end()));
    std::vector<double> numbers(static_cast<std::size_t>(factors.size()));
    for (std::size_t i = 0; i != numbers.size(); ++i) {
        const double share = static_cast<double>(i) * 0.618034;
        numbers[i] = 1 + change * (1.5 - (share - std::floor(share)));
    }
    factors.assign(numbers);
    return constant_of(g, factors, {meta.dtype, meta.shape, {}}, before);
}

/// Perturbs each float that an op computes, alternately upwards and downwards, like passes that compute the
/// same in other steps: x / x is 1, but x * (1 / x) need not be. Elements of one tensor change by different
/// factors: equal ones need not stay equal. Numbers that are not whole are also moved near 0, and are 0 below
/// `smallest`: 1 - erf(x) is 0 where erfc(x) is not.
void round_otherwise(graph& g, double change, double smallest) {
    for (node* n = g.first(); n != nullptr; n = n->next) {
        if (is_of_dialect<builtin::dialect>(*n)) continue;
        node* const computed = n;
        for (std::uint32_t i = 0; i != computed->result_count; ++i, change = -change) {
            const value v = computed->result(i);
            if (!is_floating(meta_of(v)->dtype)) continue;
            const auto make = [&]<op_tag Op>(const args<Op>& a, dtype type) {
                n = &g.create<Op>(a, n->next);
                g.set_meta(n->result(), {type, meta_of(v)->shape, {}});
                return n->result();
            };
            const dtype real = meta_of(v)->dtype;
            const value factors = rounding_factors(g, *meta_of(v), change, n->next);
            n = n->next;
            const value scaled = make.operator()<aten::mul_tensor>({v, factors}, real);
            g.replace_all_uses(v, scaled, n);
            const value whole = make.operator()<aten::floor>({v}, real);
            const value rest = make.operator()<aten::ne_tensor>({v, whole}, dtype::boolean);
            const value step = make.operator()<aten::mul_scalar>({.self = rest, .other = change / 10}, real);
            const value moved = make.operator()<aten::add_tensor>({scaled, step}, real);
            g.replace_all_uses(scaled, moved, n);
            const value magnitude = make.operator()<aten::abs>({v}, real);
            const value large =
                make.operator()<aten::ge_scalar>({.self = magnitude, .other = smallest}, dtype::boolean);
            const value kept = make.operator()<aten::mul_tensor>({moved, large}, real);
            g.replace_all_uses(moved, kept, n);
        }
    }
}

/// Lowers a copy of a program and compares its results after each pass.
class lowering_check {
public:
    explicit lowering_check(const random_program& p) : program_(p) {
        auto outputs = execute(p.g, p.inputs);
        if (!outputs) return;
        expected_ = std::move(outputs).value();
        for (const double step : output_steps(p.g)) granted_.push_back(16 * step);
        stable_ = is_stable();
    }
    /// True if small changes of inputs and rounding change the outputs little. Otherwise passes cannot be
    /// compared.
    [[nodiscard]] bool stable() const { return stable_; }

    [[nodiscard]] std::string fault(std::string_view target, driver_kind driver) {
        graph g;
        copy_graph(program_.g, g);
        eliminate_dead_code(g);  // unused integers need not fit, not even as divisors
        const bool for_kernels = target == executorch_runtime;
        if (!for_kernels) g.set_target(*parse_target(target));
        pass_context context(standard_functions);
        context_ = &context;
        fault_.clear();
        const run_options options{
            .driver = driver, .observer = this, .after_pass = &lowering_check::after_pass};
        const auto done = for_kernels ? run_executorch_pipeline(g, context, options)
                                      : run_standard_pipeline(g, context, options);
        lowered_ = done && context.diagnostics().empty();
        if (!done) return std::string(done.error().message);
        // If the target has no floats, float computations have no meaning until they are refused.
        if (!lowered_ && !for_kernels && !g.target().has(target_feature::profile_fp)) return {};
        return fault_;
    }
    [[nodiscard]] bool lowered() const { return lowered_; }
    /// True if all assumptions about integers hold in this program, so that 32 bits must be enough.
    [[nodiscard]] bool keeps_assumptions(std::string_view target) const {
        graph g;
        copy_graph(program_.g, g);
        g.set_target(*parse_target(target));
        if (!prepare_integers(g)) return false;
        const integer_widths widths = find_wide_integers(g);
        if (!widths.values.empty()) return false;
        return std::ranges::all_of(widths.inputs, [&](const assumed_input& assumed) {
            std::size_t at = 0;
            for (const node& input : g.inputs()) {
                if (&input == assumed.which) break;
                ++at;
            }
            const std::vector<double> numbers = program_.inputs[at].to<double>();
            return std::ranges::all_of(
                numbers, [&](double x) { return assumed.held.contains(static_cast<bound>(x)); });
        });
    }

private:
    static result<void> after_pass(void* self, const pass_record& pass, graph& g) {
        auto& check = *static_cast<lowering_check*>(self);
        // After a refusal the graph is no longer a program.
        const bool comparable = check.fault_.empty() && check.context_->diagnostics().empty();
        if (pass.nodes.rewritten == 0 || !comparable) return {};
        const std::string fault = check.compare(g);
        if (!fault.empty()) check.fault_ = std::string(pass.name) + ": " + fault;
        return {};
    }
    [[nodiscard]] std::string compare(const graph& g) const {
        if (const auto sound = verify(g); !sound) return std::string(sound.error().message);
        const auto got = execute(g, inputs_for(g, program_.inputs));
        if (!got) return std::string(got.error().message);
        const auto rounded = rounded_inputs(g, program_.inputs);
        if (!rounded) return difference(expected_, outputs_of(g, got.value()), granted_);
        const auto expected = execute(program_.g, *rounded);
        if (!expected) return std::string(expected.error().message);
        return difference(expected.value(), outputs_of(g, got.value()), granted_);
    }
    [[nodiscard]] bool is_stable() const {
        constexpr std::array<std::pair<double, double>, 3> roundings{{{1e-5, 0}, {-1e-5, 0}, {0, 1e-6}}};
        return std::ranges::all_of(roundings, [&](const auto& rounding) {
            const auto [change, smallest] = rounding;
            std::vector<tensor> moved;
            for (const tensor& t : program_.inputs) {
                std::vector<double> numbers = t.to<double>();
                for (double& x : numbers) x += change * (1 + std::abs(x));
                moved.push_back(is_floating(t.type()) ? tensor::of(t.type(), t.shape(), numbers) : t);
            }
            graph rounded;
            copy_graph(program_.g, rounded);
            round_otherwise(rounded, change, smallest);
            return agrees(program_.g, moved) && agrees(rounded, program_.inputs);
        });
    }
    [[nodiscard]] bool agrees(const graph& g, const std::vector<tensor>& inputs) const {
        const auto outputs = execute(g, inputs);
        return outputs && difference(expected_, outputs.value(), granted_).empty();
    }

    const random_program& program_;
    const pass_context* context_ = nullptr;
    std::string fault_;  // of the first faulty pass
    std::vector<tensor> expected_;
    std::vector<double> granted_;
    bool stable_ = false;
    bool lowered_ = false;
};

/// Returns the number of nodes that are not inputs.
std::size_t computed_nodes(const graph& g) {
    return g.size() - g.census().count(info_of<builtin::placeholder>);
}

/// Copies the program with input values instead of its k-th node; false if that is impossible.
bool replace_by_inputs(const random_program& from, std::size_t k, random_program& to) {
    copy_graph(from.g, to.g);
    to.inputs = from.inputs;
    node* chosen = to.g.first();
    for (; chosen != nullptr && k != 0; --k) chosen = chosen->next;
    if (chosen == nullptr || is<builtin::output>(*chosen) || is<builtin::placeholder>(*chosen)) return false;
    graph values;  // the node's results
    copy_graph(to.g, values);
    node* same = values.first();
    for (const node* n = to.g.first(); n != chosen; n = n->next) same = same->next;
    std::vector<value> results;
    for (std::uint32_t i = 0; i != same->result_count; ++i) results.push_back(same->result(i));
    values.erase(*values.output());
    values.create<builtin::output>({.values = list<value>(results)});
    const auto computed = execute(values, from.inputs);
    if (!computed) return false;
    for (std::uint32_t i = 0; i != chosen->result_count; ++i) {
        node& input = to.g.create<builtin::placeholder>({}, to.g.first());
        to.g.set_meta(input.result(), *chosen->results[i].meta);
        to.g.replace_all_uses(chosen->result(i), input.result());
        to.inputs.push_back(computed.value()[i]);
    }
    to.g.erase(*chosen);
    eliminate_dead_code(to.g);
    return true;
}

/// Returns the elements of the inputs that are read.
std::string elements_of_inputs(const random_program& p) {
    std::string text;
    std::size_t at = 0;
    for (const node& input : p.g.inputs()) {
        const tensor& t = p.inputs[at++];
        if (input.first_use == nullptr || t.size() > 64) continue;
        text += "input " + std::to_string(at - 1) + ":";
        for (const double x : t.to<double>()) {
            std::array<char, 32> number{};
            std::snprintf(number.data(), number.size(), " %.9g", x);
            text += number.data();
        }
        text += '\n';
    }
    return text;
}

/// Returns the fault, and the smallest faulty program found: nodes are replaced by inputs, first ones first.
std::string minimized(const random_program& failing, std::string_view target, driver_kind driver) {
    for (std::size_t k = 0; k != failing.g.size(); ++k) {
        random_program smaller;
        if (!replace_by_inputs(failing, k, smaller) || computed_nodes(smaller.g) >= computed_nodes(failing.g))
            continue;
        lowering_check check(smaller);
        const bool comparable =
            check.stable() && (target == executorch_runtime || check.keeps_assumptions(target));
        if (comparable && !check.fault(target, driver).empty()) return minimized(smaller, target, driver);
    }
    return lowering_check(failing).fault(target, driver) + "\n" + std::string(listing(failing.g)) +
        elements_of_inputs(failing);
}

unsigned number_in(const char* variable, unsigned otherwise) {
    const char* given = std::getenv(variable);
    return given == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}

std::vector<std::string_view> targets_for(flavour kind) {
    switch (kind) {
        case flavour::floats:
            return {"TOSA-1.0+FP", executorch_runtime};
        case flavour::whole_numbers:
            return {"TOSA-1.0+INT", executorch_runtime};
        case flavour::quantized:
            return {"TOSA-1.0+INT", "TOSA-1.0+INT+u55", "TOSA-1.0+INT+u85", executorch_runtime};
        default:
            return {"TOSA-1.0+INT+FP", executorch_runtime};
    }
}

}  // namespace

TEST_CASE("random programs compute the same after each pass", "[random]") {
    const unsigned count = number_in("HEADRACE_RANDOM_PROGRAMS", testing::drawn_cases(200));
    const unsigned seed = number_in("HEADRACE_RANDOM_SEED", 1);
    std::size_t compared = 0, lowered = 0, nodes = 0;
    for (unsigned i = 0; i != count; ++i) {
        const auto kind = static_cast<flavour>((seed + i) % flavours);
        random_program p;
        generator made(p, kind, seed + i);
        made.generate();
        const std::string stray = made.value_out_of_range();
        if (!stray.empty()) FAIL_CHECK("HEADRACE_RANDOM_SEED=" << seed + i << ": " << stray);
        lowering_check check(p);
        if (!check.stable()) continue;
        ++compared;
        nodes += p.g.size();
        for (const std::string_view target : targets_for(kind)) {
            if (target != executorch_runtime && !check.keeps_assumptions(target)) continue;
            for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
                const std::string fault = check.fault(target, driver);
                lowered += check.lowered() ? 1U : 0U;
                if (fault.empty()) continue;
                FAIL_CHECK(
                    "HEADRACE_RANDOM_SEED=" << seed + i << " HEADRACE_RANDOM_PROGRAMS=1, " << target << ", "
                                            << (driver == driver_kind::in_place ? "in place" : "retraced")
                                            << ": " << minimized(p, target, driver));
            }
        }
    }
    WARN(compared << " of " << count << " programs compared, " << nodes << " nodes; " << lowered
                  << " lowerings without a refusal");
    CHECK(compared * 2 >= count);
}
