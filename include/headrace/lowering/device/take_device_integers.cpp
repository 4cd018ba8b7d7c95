// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/device/take_device_integers.hpp.

#include <headrace/lowering/device/take_device_integers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/ranges/quantized_range.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/lowering/device/kept_device_numbers.hpp>
#include <headrace/lowering/device/normalized_input.hpp>
#include <headrace/quantization/device/keep_device_integers.hpp>

namespace headrace {

namespace {

bool is_uniform(const std::vector<double>& numbers) {
    return std::ranges::all_of(numbers, [&](double x) { return x == numbers.front(); });
}

// Makes an input integer and computes its former value from it.
class integer_input {
public:
    integer_input(graph& g, node& input, const device_input& device, bool quantized)
        : g_(g),
          input_(input),
          device_(device),
          shape_(meta_of(input.result())->shape),
          axis_(device.axis.value_or(1)),
          quantized_(quantized) {
        const auto rank = static_cast<std::int64_t>(shape_.size());
        if (axis_ < 0) axis_ += rank;
    }

    [[nodiscard]] result<void> check() const {
        const auto refused = [&](auto&&... words) {
            return unsupported(join_text("--input ", printable(device_.name), ": ", words...));
        };
        const tensor_meta& meta = *meta_of(input_.result());
        if (meta.dtype != dtype::float32)
            return refused("the model takes ", name_of(meta.dtype), " here, not float32");
        const std::size_t channels = device_.factors.size();
        if (channels == 1) return {};
        const auto rank = static_cast<std::int64_t>(shape_.size());
        if (!device_.axis && rank < 3)
            return refused("name the axis of the channels of ", shape_text(meta.shape), ", such as @0");
        if (axis_ < 0 || axis_ >= rank)
            return refused("there is no axis ", device_.axis.value_or(1), " in ", shape_text(meta.shape));
        const std::int64_t size = shape_[static_cast<std::size_t>(axis_)];
        if (size != static_cast<std::int64_t>(channels))
            return refused(
                "axis ", axis_, " of ", shape_text(meta.shape), " has ", size, " channels, not ", channels);
        return {};
    }

    void rewrite() {
        before_ = input_.next;
        while (is<builtin::placeholder>(*before_)) before_ = before_->next;
        g_.set_meta(input_.result(), {device_.type, float_meta().shape, {}});
        const value number = numbers();
        g_.replace_all_uses(input_.result(), number, entry_);
        keep_device_numbers(g_, input_, *entry_, device_);
    }

    // Returns the zero point of numbers that are a quantization of the integers; TOSA has none for int16.
    [[nodiscard]] std::optional<std::int64_t> whole_zero_point() const {
        const double factor = device_.factors.front();
        if (!is_uniform(device_.factors) || !is_uniform(device_.offsets) || factor <= 0) return std::nullopt;
        const auto [lowest, highest] = detail::range_of_integers(device_.type);
        const double zero = -device_.offsets.front() / factor;
        const double rounded = std::nearbyint(zero);
        const bool is_whole = std::abs(zero - rounded) < 1e-6 && rounded >= static_cast<double>(lowest) &&
            rounded <= static_cast<double>(highest);
        if (!is_whole || (device_.type == dtype::int16 && rounded != 0)) return std::nullopt;
        return static_cast<std::int64_t>(rounded);
    }

    // Replaces what the model computes from its integers.
    void fold(value before) {
        before_ = before.producer->next;
        g_.replace_all_uses(before, numbers());
    }

private:
    [[nodiscard]] tensor_meta float_meta() const {
        return {dtype::float32, meta_of(input_.result())->shape, {}};
    }

    value made(node& n) {
        g_.set_meta(n.result(), float_meta());
        return n.result();
    }

    value numbers() {
        if (!quantized_) return affine(cast(), 1);
        if (const auto zero_point = whole_zero_point())
            return dequantized(device_.factors.front(), *zero_point);
        double largest = 0;
        for (const double f : device_.factors) largest = std::max(largest, std::abs(f));
        return affine(dequantized(largest, 0), largest);
    }

    value cast() {
        entry_ = &g_.create<aten::_to_copy>({.self = input_.result(), .dtype = dtype::float32}, before_);
        return made(*entry_);
    }

    value dequantized(double scale, std::int64_t zero_point) {
        const auto [lowest, highest] = detail::range_of_integers(device_.type);
        entry_ = &g_.create<quantized_decomposed::dequantize_per_tensor>(
            {input_.result(), scale, zero_point, lowest, highest, device_.type}, before_);
        g_.annotate(*entry_, device_integers{});
        return made(*entry_);
    }

    value constant(const std::vector<double>& numbers, double unit, sizes shape, std::size_t count) {
        const shape_builder built(shape);
        const tensor_meta meta{dtype::float32, g_.own(int_list(built)), {}};
        return create_constant(g_, meta, before_, [&](std::span<std::byte> to) {
            for (std::size_t c = 0; c != count; ++c) {
                const auto x = static_cast<float>(numbers[numbers.size() == 1 ? 0 : c] / unit);
                std::memcpy(to.data() + c * sizeof(float), &x, sizeof(float));
            }
        });
    }

    // A depthwise convolution of one element rounds once where it is quantized, has a factor of its own for each
    // channel, and merges into the next convolution. Other ranks and axes have a product and a sum.
    value affine(value x, double unit) {
        const std::size_t rank = shape_.size();
        if (axis_ == 1 && (rank == 3 || rank == 4)) return depthwise(x, unit);
        shape_builder shape = shape_builder::filled(rank, 1);
        const std::size_t count = device_.factors.size();
        if (count != 1) {
            shape = {};
            for (std::size_t i = 0; i != rank; ++i)
                shape.push_back(static_cast<std::int64_t>(i) == axis_ ? shape_[i] : 1);
        }
        if (!is_uniform(device_.factors) || device_.factors.front() != unit) {
            const value factor = constant(device_.factors, unit, shape, count);
            x = made(g_.create<aten::mul_tensor>({.self = x, .other = factor}, before_));
        }
        if (!is_uniform(device_.offsets) || device_.offsets.front() != 0) {
            const value offset = constant(device_.offsets, 1, shape, count);
            x = made(g_.create<aten::add_tensor>({.self = x, .other = offset}, before_));
        }
        return x;
    }

    value depthwise(value x, double unit) {
        const std::int64_t channels = shape_[1];
        const auto count = static_cast<std::size_t>(channels);
        shape_builder shape{channels};
        for (std::size_t i = 1; i != shape_.size(); ++i) shape.push_back(1);
        const value weight = constant(device_.factors, unit, shape, count);
        const value bias = constant(device_.offsets, 1, shape_builder{channels}, count);
        if (shape_.size() == 3)
            return made(g_.create<aten::conv1d>(
                {.input = x, .weight = weight, .bias = bias, .groups = channels}, before_));
        return made(g_.create<aten::conv2d>(
            {.input = x, .weight = weight, .bias = bias, .groups = channels}, before_));
    }

    graph& g_;
    node& input_;
    const device_input& device_;
    sizes shape_;
    std::int64_t axis_;
    bool quantized_;
    node* before_ = nullptr;  // new nodes precede it
    node* entry_ = nullptr;   // the node that reads the integers
};

}  // namespace

result<void> take_device_integers(program& p, std::span<const device_input> inputs, bool quantized) {
    graph& g = *p.graph;
    for (std::size_t i = 0; i != inputs.size(); ++i) {
        const device_input& device = inputs[i];
        const auto is_same = [&](const device_input& other) { return other.name == device.name; };
        if (std::ranges::any_of(inputs.first(i), is_same))
            return malformed(join_text(
                "--input ", printable(device.name), " is given twice; give it once for each input"));
        const auto named = [&](const node& n) { return n.name() == device.name; };
        node* found = nullptr;
        std::string known;
        for (node& n : g.inputs()) {
            if (named(n)) found = &n;
            known += join_text(known.empty() ? "" : ", ", printable(n.name()));
        }
        if (found == nullptr)
            return unsupported(join_text("--input ", printable(device.name),
                ": the model has no input of this name; its inputs are ", known));
        integer_input input(g, *found, device, quantized);
        HEADRACE_TRY(input.check());
        input.rewrite();
    }
    return {};
}

void fold_normalization(graph& g) {
    for (node& input : g.inputs()) {
        const auto found = normalized_input_at(input);
        if (found) integer_input(g, input, found->device, true).fold(found->numbers);
    }
    eliminate_dead_code(g);
}

void fold_quantized_normalization(graph& g) {
    const auto is_quantize = [](const edge& use) {
        return is<quantized_decomposed::quantize_per_tensor>(*use.target);
    };
    for (node& input : g.inputs()) {
        const auto found = normalized_input_at(input);
        if (!found || !std::ranges::all_of(found->numbers.producer->uses(), is_quantize)) continue;
        integer_input by(g, input, found->device, true);
        if (by.whole_zero_point()) by.fold(found->numbers);
    }
    eliminate_dead_code(g);
}

}  // namespace headrace
