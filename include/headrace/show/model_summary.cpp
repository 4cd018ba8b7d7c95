// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/model_summary.hpp.

#include <headrace/show/model_summary.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/show/literals.hpp>

namespace headrace {

namespace {

std::uint64_t elements_of(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta == nullptr ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(meta->elements(), 0));
}
// True if a constant holds a scale, a zero point or a table, not learnt parameters.
bool is_quantization_parameter(const node& constant) {
    const tensor_meta& meta = *constant.results[0].meta;
    if (is<tosa::const_>(constant) && meta.elements() == 1 && !is_floating(meta.dtype)) return true;
    const auto uses = constant.uses();
    return constant.first_use != nullptr && std::all_of(uses.begin(), uses.end(), [](const edge& e) {
        const node& user = *e.target;
        const bool converts = is_of_dialect<quantized_decomposed::dialect>(user) || is<tosa::rescale>(user) ||
            is<tosa::table>(user);
        return converts && e.operand != 0;
    });
}

class summary_maker {
public:
    void add(const graph& g) {
        for (const node& n : g.nodes()) {
            add_node(n);
            for_each_region(n, [&](const field_info&, const graph* region) {
                if (region != nullptr && region->parent() == &g) add(*region);
            });
        }
    }
    [[nodiscard]] model_summary made() && {
        for (auto& [name, op] : ops_) made_.ops.push_back(std::move(op));
        std::ranges::stable_sort(made_.ops, [](const op_summary& a, const op_summary& b) {
            return std::pair(a.macs, a.count) > std::pair(b.macs, b.count);
        });
        return std::move(made_);
    }

private:
    void add_node(const node& n) {
        ++made_.nodes;
        if (is<builtin::placeholder>(n) || is<builtin::output>(n) || is<tosa::const_shape>(n)) return;
        if (is<builtin::constant>(n) || is<tosa::const_>(n)) return add_constant(n);
        const std::uint64_t macs = multiply_accumulates(n);
        op_summary& op = ops_[op_name(n)];
        op.op = op_name(n);
        ++op.count;
        op.macs += macs;
        made_.macs += macs;
        made_.uncounted += has_uncounted_macs(n) ? 1 : 0;
    }
    void add_constant(const node& n) {
        if (!n.results[0].meta || is_quantization_parameter(n)) return;
        made_.parameters += elements_of({const_cast<node*>(&n), 0});
        made_.parameter_bytes += packed_bytes(*n.results[0].meta);
    }

    model_summary made_;
    std::map<std::string_view, op_summary> ops_;
};

std::string described(const signature_tensor& t, const quantization* quantized_by, dtype quantized_to) {
    const std::string plain(meta_text(t.meta));
    std::string text = join_text(printable(t.name), ": ");
    if (t.quantization != nullptr) {
        const auto& q = *t.quantization;
        const std::string parameters =
            detail::format_parameters(quantization::per_tensor(q.scale, q.zero_point, q.lowest, q.highest));
        text += join_text(name_of(t.meta.dtype), parameters, plain.substr(plain.find('[')));
    } else {
        text += plain;
    }
    if (quantized_by != nullptr)
        text += join_text(", in the model ", name_of(quantized_to), detail::format_parameters(*quantized_by));
    return text + (t.channels_last ? ", NHWC" : "");
}

std::vector<std::string> described_inputs(const graph& g) {
    std::vector<std::string> all;
    const std::vector<signature_tensor> tensors = signature_inputs(g);
    for (const node& n : g.inputs()) {
        std::optional<quantization> q;
        dtype to = dtype::unknown;
        for (const edge& e : n.uses()) {
            const auto* a = args_if<quantized_decomposed::quantize_per_tensor>(*e.target);
            if (a == nullptr) continue;
            q = quantization_of(*a);
            to = a->dtype;
        }
        all.push_back(described(tensors[all.size()], q ? &*q : nullptr, to));
    }
    return all;
}

std::vector<std::string> described_outputs(const graph& g) {
    std::vector<std::string> all;
    if (g.output() == nullptr) return all;
    const std::vector<signature_tensor> tensors = signature_outputs(g);
    for (const value v : g.outputs()) {
        const auto read = match_dequantize(v);
        const tensor_meta* integers = read ? meta_of(read->integers) : nullptr;
        all.push_back(described(tensors[all.size()], integers == nullptr ? nullptr : &read->parameters,
            integers == nullptr ? dtype::unknown : integers->dtype));
    }
    return all;
}

}  // namespace

model_summary summary_of(const graph& g) {
    summary_maker maker;
    maker.add(g);
    model_summary made = std::move(maker).made();
    if (const auto plan = make_memory_plan(g, {})) {
        std::uint64_t bytes = 0;
        for (const planned_memory& m : plan.value().memories) bytes += m.bytes;
        made.peak_bytes = bytes;
    }
    made.inputs = described_inputs(g);
    made.outputs = described_outputs(g);
    return made;
}

}  // namespace headrace
