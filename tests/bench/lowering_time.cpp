// SPDX-License-Identifier: MIT
// The experiment of ExecuTorch's pull request 18497, "skip and fast-copy optimizations": lowers a small
// convolutional network for Ethos-U55 with skipping, fast copies and the dispatch cache on and off, in both
// drivers. Prints a table next to the figures of that text, and fails if two settings give different
// flatbuffers.
//
//     headrace_bench_lowering_time [REPETITIONS [MODEL.pt2]]
//
// With a model, the drivers' rows are for that model.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/eval/fold.hpp>
#include <headrace/fx/dispatch_cache.hpp>
#include <headrace/fx/fused_sweeps.hpp>
#include <headrace/io/pt2/pt2.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/lowering/target_choice.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/standard_lowering.hpp>

using namespace headrace;

namespace {

using lowering = standard_lowering;

std::uint64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

result<void> infer(const node& n, inference& out) {
    const inference_rule rule = find_rule<aten::dialect, quantized_decomposed::dialect,
        dim_order_ops::dialect, higher_order::dialect, tosa::dialect>(*n.op);
    if (rule == nullptr) return invalid(message_prefix(n) + "no inference rule");
    return rule(n.arguments, out);
}

/// Nine convolutions, each with a LayerNorm over its channels and a relu, quantized to int8 like PT2E: every
/// activation is quantized and dequantized, and the LayerNorm is written as sums and products.
class network {
public:
    network() {
        g.set_target(*parse_target("TOSA-1.0+INT+u55"));
        value x = make<builtin::placeholder>({}, {dtype::float32, {1, 1, 1, 256}, {}});
        x = quantized(x, 0.025, -20);
        std::int64_t channels = 1;
        for (std::int64_t i = 0; i != 9; ++i) {
            const std::int64_t wider = i < 3 ? 16 : i < 6 ? 32 : 64;
            const std::int64_t stride = i == 0 || i == 3 || i == 6 ? 2 : 1;
            x = layer_norm(convolution(x, channels, wider, i == 0 ? 7 : i < 7 ? 5 : 3, stride), wider);
            x = quantized(make<aten::relu>({x}), 0.02, -128);
            channels = wider;
        }
        g.create<builtin::output>({.values = {&x, 1}});
    }

    graph g;
    std::size_t parameters = 0;

private:
    template <op_tag Op>
    value make(const args<Op>& a) {
        inference inferred(g.arena());
        if (auto done = infer_op<Op>(a, inferred); !done) {
            std::fprintf(stderr, "%s: %s\n", std::string(Op::name).c_str(), done.error().message.c_str());
            std::exit(1);
        }
        return make<Op>(a, inferred.results()[0]);
    }
    template <op_tag Op>
    value make(const args<Op>& a, const tensor_meta& meta) {
        node& n = g.create<Op>(a);
        g.set_meta(n.result(), meta);
        g.set_name(n.result(), "v" + std::to_string(n.id));
        g.annotate(n, provenance{n.name(), Op::name});
        return n.result();
    }
    template <class T, class Next>
    value constant(dtype type, const int_list& shape, Next&& next) {
        return create_constant(g, {type, shape, {}}, nullptr, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != data.size(); i += sizeof(T)) {
                const T element = next();
                std::memcpy(&data[i], &element, sizeof element);
            }
        });
    }
    /// Adds a parameter of the network itself, not one of its quantization.
    template <class T, class Next>
    value parameter(dtype type, const int_list& shape, Next&& next) {
        parameters += static_cast<std::size_t>(tensor_meta{type, shape, {}}.elements());
        return constant<T>(type, shape, next);
    }
    value dequantized(value codes, double scale, std::int64_t zero_point) {
        return make<quantized_decomposed::dequantize_per_tensor>(
            {codes, scale, zero_point, -128, 127, dtype::int8});
    }
    value quantized(value x, double scale, std::int64_t zero_point) {
        return dequantized(
            make<quantized_decomposed::quantize_per_tensor>({x, scale, zero_point, -128, 127, dtype::int8}),
            scale, zero_point);
    }
    value per_channel(
        value codes, std::int64_t channels, std::int64_t lowest, std::int64_t highest, dtype type) {
        const value scales = constant<float>(dtype::float32, {channels}, [] { return 0.003F; });
        const value zero_points = constant<std::int64_t>(dtype::int64, {channels}, [] { return 0; });
        return make<quantized_decomposed::dequantize_per_channel>(
            {codes, scales, zero_points, 0, lowest, highest, type});
    }
    std::int8_t random_code() { return static_cast<std::int8_t>(static_cast<int>(random_() % 255) - 127); }

    value convolution(value x, std::int64_t in, std::int64_t out, std::int64_t width, std::int64_t stride) {
        const value weight = per_channel(
            parameter<std::int8_t>(dtype::int8, {out, in, 1, width}, [&] { return random_code(); }), out,
            -127, 127, dtype::int8);
        const value bias =
            per_channel(parameter<std::int32_t>(dtype::int32, {out}, [&] { return 10 * random_code(); }), out,
                -2147483647, 2147483647, dtype::int32);
        return quantized(make<aten::conv2d>({.input = x,
                             .weight = weight,
                             .bias = bias,
                             .stride = {1, stride},
                             .padding = {0, width / 2}}),
            0.02, 3);
    }
    value number(std::int8_t code, double scale) {
        return dequantized(
            constant<std::int8_t>(dtype::int8, {1, 1, 1, 1}, [&] { return code; }), scale, -128);
    }
    value mean(value x, double scale) {
        const value sum = quantized(
            make<aten::sum_dim_intlist>({.self = x, .dim = int_list{3}, .keepdim = true}), 8 * scale, 0);
        return quantized(make<aten::mul_tensor>({sum, number(127, 1.0 / 16 / 255)}), scale, 0);
    }
    value layer_norm(value x, std::int64_t channels) {
        x = quantized(make<aten::permute>({x, {0, 2, 3, 1}}), 0.02, 3);
        const value centred = quantized(make<aten::sub_tensor>({x, mean(x, 0.01)}), 0.02, 3);
        const value squares = quantized(make<aten::mul_tensor>({centred, centred}), 0.02, -128);
        const value variance =
            quantized(make<aten::add_tensor>({mean(squares, 0.01), number(127, 0.0001)}), 0.01, -128);
        const value factor = quantized(make<aten::rsqrt>({variance}), 0.05, -128);
        const value normal = quantized(make<aten::mul_tensor>({centred, factor}), 0.03, 0);
        const auto affine = [&](double scale) {
            return dequantized(
                parameter<std::int8_t>(dtype::int8, {channels}, [&] { return random_code(); }), scale, 0);
        };
        const value scaled = quantized(make<aten::mul_tensor>({normal, affine(0.01)}), 0.03, 0);
        const value shifted = quantized(make<aten::add_tensor>({scaled, affine(0.001)}), 0.03, 0);
        return quantized(make<aten::permute>({shifted, {0, 3, 1, 2}}), 0.03, 0);
    }

    std::mt19937 random_{1};
};

struct setting {
    driver_kind driver;
    bool skip;
    bool fast_copy;
    bool cache;
    bool fused = false;  ///< passes that do not interact share a sweep
};

// The passes that consist of handlers, which a driver runs.
template <class... Ps>
constexpr std::array<bool, sizeof...(Ps)> swept(pass_list<Ps...>) {
    return {!graph_pass<Ps>...};
}
constexpr auto is_swept = swept(lowering::passes{});

struct measurement {
    std::size_t sweeps = 0;
    std::size_t nodes_in = 0, nodes_out = 0, ran = 0, skipped = 0, copied = 0, dispatched = 0, hits = 0;
    double milliseconds = 0;
    std::vector<std::byte> flatbuffer{};
};

[[noreturn]] void give_up(const error& e) {
    std::fprintf(stderr, "error: %s\n", e.message.c_str());
    std::exit(1);
}

/// The network, or the user's model.
class subject {
public:
    explicit subject(const char* file) {
        if (file == nullptr) {
            network_ = std::make_unique<network>();
            return;
        }
        auto read = read_pt2(file);
        if (!read) give_up(read.error());
        model_ = std::make_unique<program>(std::move(read).value());
        model_->graph->set_target(default_targets(*model_->graph)[0]);
    }
    [[nodiscard]] graph& operator*() const { return network_ ? network_->g : *model_->graph; }

private:
    std::unique_ptr<network> network_;
    std::unique_ptr<program> model_;
};

result<run_statistics> run(graph& g, pass_context& context, const setting& s, std::size_t& sweeps) {
    if (s.fused) {
        HEADRACE_TRY(done, fused_sweeps<lowering>::run(g, context, {.skip = s.skip}));
        sweeps = done.sweeps;
        return std::move(done.passes);
    }
    HEADRACE_TRY(done, lowering::run_unchecked(g, context, {.driver = s.driver, .skip = s.skip}));
    for (std::size_t i = 0; i != done.size(); ++i)
        sweeps += s.driver == driver_kind::retracing && done[i].status == pass_status::ran && is_swept[i];
    return done;
}

measurement lower_once(const setting& s, const char* file) {
    const subject net(file);
    graph& g = *net;
    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    const auto scope = cache.extend<quantized_decomposed::dialect, tosa::dialect, dim_order_ops::dialect>();
    pass_context context({&infer, &eval::folding});
    context.copy_fast(s.fast_copy);
    if (s.cache) context.use_cache(&cache);
    measurement m;
    m.nodes_in = g.size();
    const std::uint64_t begin = now();
    auto done = run(g, context, s, m.sweeps);
    m.milliseconds = static_cast<double>(now() - begin) / 1e6;
    if (!done) give_up(done.error());
    if (!context.diagnostics().empty()) give_up(invalid(diagnostic_text(context.diagnostics()[0])));
    for (const pass_record& p : done.value()) {
        ++(p.status == pass_status::ran ? m.ran : m.skipped);
        m.copied += p.nodes.copied;
        m.dispatched += p.nodes.rewritten + p.nodes.declined + p.nodes.inferred;
    }
    m.nodes_out = g.size();
    m.hits = cache.hits();
    const auto emitted = emit_tosa(g);
    if (!emitted) give_up(emitted.error());
    const std::span<const std::byte> bytes = emitted.value().bytes();
    m.flatbuffer.assign(bytes.begin(), bytes.end());
    return m;
}

using flatbuffer = std::vector<std::byte>;

// Returns a driver's default result. Drivers may name values of a model differently.
const flatbuffer& reference_of(driver_kind driver, const char* file) {
    static const flatbuffer in_place =
        lower_once({driver_kind::in_place, true, true, false}, file).flatbuffer;
    static const flatbuffer retraced =
        lower_once({driver_kind::retracing, true, true, false}, file).flatbuffer;
    return driver == driver_kind::in_place ? in_place : retraced;
}

void print_row(const setting& s, int repetitions, const char* file) {
    measurement best = lower_once(s, file);
    if (best.flatbuffer != reference_of(s.driver, file))
        give_up(invalid("the settings give different flatbuffers"));
    for (int i = 1; i < repetitions; ++i) {
        const measurement m = lower_once(s, file);
        if (m.milliseconds < best.milliseconds) best = m;
    }
    std::printf("%-10s %-5s %-5s %-5s %7zu %7zu %7zu %7zu %7zu %8zu %11zu %7zu %11.2f ms\n",
        s.fused                                 ? "fused"
            : s.driver == driver_kind::in_place ? "in place"
                                                : "retracing",
        s.skip ? "on" : "off",
        s.driver == driver_kind::in_place ? "-"
            : s.fast_copy                 ? "on"
                                          : "off",
        s.cache ? "on" : "off", best.nodes_in, best.nodes_out, best.ran, best.skipped, best.sweeps,
        best.copied, best.dispatched, best.hits, best.milliseconds);
}

/// A pass that finds nothing, so that its run measures copies, or dispatches if copies are not fast.
struct no_work : pass {
    using targets = ops<aten::einsum>;
    std::optional<value> operator()(const args<aten::einsum>&, emit<ops<>>&) const { return std::nullopt; }
};

double nanoseconds_per_node(graph& g, pass_context& context, int repetitions, std::size_t nodes) {
    std::uint64_t best = UINT64_MAX;
    for (int i = 0; i < 10 * repetitions; ++i) {
        const std::uint64_t begin = now();
        auto done = apply_pass(no_work{}, g, context, driver_kind::retracing);
        best = std::min(best, now() - begin);
        if (!done) give_up(done.error());
    }
    return static_cast<double>(best) / static_cast<double>(nodes);
}

double nanoseconds_per_skip(const graph& g, int repetitions) {
    constexpr pipeline_steps all = lowering::steps();
    std::uint64_t best = UINT64_MAX;
    volatile std::size_t found = 0;
    for (int i = 0; i < 100 * repetitions; ++i) {
        const std::uint64_t begin = now();
        found = static_cast<std::size_t>(std::ranges::count_if(
            all.steps, [&](const pipeline_step& step) { return all.has_targets(step, g); }));
        best = std::min(best, now() - begin);
    }
    static_cast<void>(found);
    return static_cast<double>(best) / static_cast<double>(lowering::size);
}

/// Compares the cost of a cached inference with that of its rule: the reason why nothing uses the cache.
void compare_cache(graph& g, int repetitions) {
    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    const auto scope = cache.extend<quantized_decomposed::dialect, tosa::dialect>();
    std::vector<const node*> nodes;
    for (const node& n : g.nodes()) {
        if (!is_of_dialect<builtin::dialect>(n)) nodes.push_back(&n);
    }
    inference out(g.arena());
    const auto time = [&](auto ask) {
        std::uint64_t best = UINT64_MAX;
        for (int i = 0; i < 10 * repetitions; ++i) {
            const std::uint64_t begin = now();
            for (const node* n : nodes) {
                out.clear();
                if (!ask(*n)) std::exit(1);
            }
            best = std::min(best, now() - begin);
        }
        return static_cast<double>(best) / static_cast<double>(nodes.size());
    };
    const double plain = time([&](const node& n) { return infer(n, out).has_value(); });
    const double cached = time([&](const node& n) { return cache.infer(n, out, &infer).has_value(); });
    std::printf("%-20s %10.4f us by its rule, %.4f us by a look-up (%zu kinds of node)\n", "an inference",
        plain / 1000, cached / 1000, cache.size());
}

constexpr bool both[] = {true, false};

void print_rows(int repetitions, const char* file) {
    std::printf("%-10s %-5s %-5s %-5s %7s %7s %7s %7s %7s %8s %11s %7s %14s\n", "driver", "skip", "copy",
        "cache", "nodes", "left", "passes", "skipped", "sweeps", "copied", "dispatched", "hits", "total");
    // For a model, skips are not measured: forced passes would rewrite ops that the target does not require.
    const std::size_t skips = file == nullptr ? 2 : 1;
    for (const bool skip : std::span(both).first(skips)) {
        for (const bool cache : {false, true})
            print_row({driver_kind::in_place, skip, true, cache}, repetitions, file);
    }
    for (const bool skip : std::span(both).first(skips)) {
        for (const bool fast_copy : {true, false}) {
            for (const bool fused : {false, true}) {
                for (const bool cache : {false, true})
                    print_row({driver_kind::retracing, skip, fast_copy, cache, fused}, repetitions, file);
            }
        }
    }
    // The figures of that text for the same columns.
    std::printf("%-10s %-5s %-5s %-5s %7s %7s %7d %7d %7s %8s %11s %7s %11.2f ms\n", "that text", "off",
        "off", "off", "~1200", "", 146, 0, "", "", "", "", 186000.0);
    std::printf("%-10s %-5s %-5s %-5s %7s %7s %7d %7d %7s %8s %11s %7s %11.2f ms\n\n", "that text", "on",
        "on", "on", "~1200", "", 146 - 53, 53, "", "", "", "", 100000.0);
}

void print_costs(graph& g, int repetitions) {
    const auto row = [](const char* what, double nanoseconds, const char* theirs) {
        std::printf("%-20s %10.4f us %12s\n", what, nanoseconds / 1000, theirs);
    };
    pass_context context(&infer);
    context.force_passes(true);
    std::printf("%-20s %13s %12s\n", "", "here", "that text");
    row("a copied node", nanoseconds_per_node(g, context, repetitions, g.size()), "20 us");
    context.copy_fast(false);
    row("a dispatched node", nanoseconds_per_node(g, context, repetitions, g.size()), "400 us");
    row("a skipped pass", nanoseconds_per_skip(g, repetitions), "-");
}

}  // namespace

int main(int argc, char** argv) {
    const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
    const char* const file = argc > 2 ? argv[2] : nullptr;
    if (file != nullptr) {
        print_rows(repetitions, file);
        return 0;
    }
    if (reference_of(driver_kind::in_place, nullptr) != reference_of(driver_kind::retracing, nullptr))
        give_up(invalid("the drivers give different flatbuffers"));
    network net;
    std::printf("9 convolutions with LayerNorm, int8, %zu nodes, %zu parameters, for Ethos-U55\n\n",
        net.g.size(), net.parameters);
    print_rows(repetitions, nullptr);
    print_costs(net.g, repetitions);
    compare_cache(net.g, repetitions);
}
