// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/reading/fake_quantize.hpp.

#include <headrace/io/pt2/reading/fake_quantize.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/ranges/quantized_range.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/text/elements.hpp>
#include <headrace/io/text/opaque_arguments.hpp>
#include <headrace/ir/unread.hpp>

namespace headrace::pt2 {

namespace {

constexpr std::string_view prefix = "aten.fake_quantize_per_",
                           prefix_with_switch = "aten._fake_quantize_per_";
constexpr std::string_view what_to_do =
    "; call convert_pt2e of torchao.quantization.pt2e.quantize_pt2e on the trained module, and export what it "
    "returns";

/// Reads one node; its members throw a failure if that is not possible.
class fake_quantization {
public:
    fake_quantization(graph& g, node& n, constant_truth truth)
        : graph_(g), node_(n), truth_(truth), name_(args_of<builtin::opaque>(n).target) {
        auto given = opaque_arguments(args_of<builtin::opaque>(n));
        if (!given) throw failure{given.error()};
        given_ = std::move(given).value();
    }

    [[nodiscard]] value read() {
        const tensor_meta* const meta = meta_of(node_.result(0));
        const tensor_meta* const given = meta_of(tensor("self"));
        if (meta == nullptr || given == nullptr || given->dtype != dtype::float32 ||
            meta->dtype != given->dtype || meta->shape != given->shape)
            fail_unsupported("it quantizes other numbers than float32");
        return is_on() ? quantized(*meta) : named(graph_.create<aten::clone>({tensor("self")}), *meta);
    }

private:
    // The range alone tells the type, which PyTorch's op does not have.
    [[nodiscard]] dtype stored_type() const {
        for (const dtype t : {dtype::int8, dtype::uint8, dtype::int16, dtype::int32}) {
            if (require_quantized_range(integer("quant_min"), integer("quant_max"), t)) return t;
        }
        fail_unsupported("its range from quant_min to quant_max is empty, or does not fit in 32 bits");
    }
    [[nodiscard]] value quantized(const tensor_meta& meta) {
        using namespace quantized_decomposed;
        const dtype type = stored_type();
        const std::int64_t low = integer("quant_min"), high = integer("quant_max");
        const value self = tensor("self");
        if (name_.find("_per_channel_") != std::string_view::npos) {
            const value scales = tensor("scale"), zeros = zero_points();
            const std::int64_t axis = integer("axis");
            const value q =
                made(graph_.create<quantize_per_channel>({self, scales, zeros, axis, low, high, type}),
                    {type, meta.shape, {}});
            return named(
                graph_.create<dequantize_per_channel>({q, scales, zeros, axis, low, high, type}), meta);
        }
        if (find("scale").kind == opaque_argument::content::tensor) {
            const value scale = tensor("scale"), zero = zero_points();
            const value q =
                made(graph_.create<quantize_per_tensor_tensor>({self, scale, zero, low, high, type}),
                    {type, meta.shape, {}});
            return named(
                graph_.create<dequantize_per_tensor_tensor>({q, scale, zero, low, high, type}), meta);
        }
        const double given = number<double>("scale");
        if (const auto fits = require_scale("scale", given); !fits) throw failure{fits.error()};
        // PyTorch's kernel computes with the scale in float32, quantize with the reciprocal of a double.
        const double scale = double{static_cast<float>(given)};
        const std::int64_t zero = integer("zero_point");
        const value q = made(
            graph_.create<quantize_per_tensor>({self, scale, zero, low, high, type}), {type, meta.shape, {}});
        return named(graph_.create<dequantize_per_tensor>({q, scale, zero, low, high, type}), meta);
    }
    // Zero points of real numbers round otherwise.
    [[nodiscard]] value zero_points() const {
        const value v = tensor("zero_point");
        if (meta_of(v) == nullptr || !is_integral(meta_of(v)->dtype))
            fail_unsupported("its zero points are not integers");
        return v;
    }
    [[nodiscard]] bool is_on() const {
        if (!name_.starts_with(prefix_with_switch)) return true;
        const auto truths = truth_ == nullptr ? std::nullopt : truth_(tensor("fake_quant_enabled"));
        if (!truths || truths->size() != 1)
            fail_unsupported("whether it is on, fake_quant_enabled, is not a constant");
        return truths->front();
    }

    [[nodiscard]] const opaque_argument& find(std::string_view name) const {
        const auto found = std::ranges::find(given_, name, &opaque_argument::name);
        if (found == given_.end()) fail_malformed("its argument '" + std::string(name) + "' is missing");
        return *found;
    }
    [[nodiscard]] value tensor(std::string_view name) const {
        const opaque_argument& a = find(name);
        if (a.kind != opaque_argument::content::tensor)
            fail_malformed("its argument '" + std::string(name) + "' is not a tensor");
        return a.tensor;
    }
    [[nodiscard]] std::int64_t integer(std::string_view name) const { return number<std::int64_t>(name); }
    template <class T>
    [[nodiscard]] T number(std::string_view name) const {
        T found{};
        if (!headrace::text::number_in(find(name).text, found))
            fail_malformed("its argument '" + std::string(name) + "' is not a number of its type");
        return found;
    }

    value made(node& n, const tensor_meta& meta) {
        graph_.inherit_annotations(n, node_);
        graph_.set_meta(n.result(), meta);
        return n.result();
    }
    // The name stays with the real numbers.
    value named(node& n, const tensor_meta& meta) {
        graph_.set_name(n.result(), node_.name());
        return made(n, meta);
    }

    graph& graph_;
    node& node_;
    constant_truth truth_;
    std::string_view name_;
    std::vector<opaque_argument> given_{};
};

}  // namespace

bool is_fake_quantization(std::string_view op_name) {
    return op_name.starts_with(prefix) || op_name.starts_with(prefix_with_switch);
}

value read_fake_quantization(graph& g, node& n, constant_truth truth) {
    try {
        const value read = fake_quantization(g, n, truth).read();
        g.annotate(n, unread_reason{g.own(text_of({"only a gradient needs its mask", what_to_do}))});
        return read;
    } catch (const failure& f) {
        g.annotate(n, unread_reason{g.own(text_of({f.what.message, what_to_do}))});
        return {};
    }
}

void erase_fake_quantization(graph& g) {
    for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
        next = n->next;
        const auto* const a = args_if<builtin::opaque>(*n);
        if (a != nullptr && is_fake_quantization(a->target) && n->first_use == nullptr) g.erase(*n);
    }
    for (graph& region : g.regions()) erase_fake_quantization(region);
}

std::string_view observing_reason(std::string_view op_name) {
    constexpr std::string_view observers[] = {"aten.fused_moving_avg_obs_fake_quant.",
        "aten._fused_moving_avg_obs_fq_helper", "aten._fake_quantize_learnable_per_"};
    const bool observes =
        std::ranges::any_of(observers, [&](std::string_view start) { return op_name.starts_with(start); });
    if (!observes) return {};
    return "it is fake quantization whose ranges are still being trained; call convert_pt2e of "
           "torchao.quantization.pt2e.quantize_pt2e on the trained module, and export what it returns";
}

}  // namespace headrace::pt2
