// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/device_input.hpp.

#include <headrace/lowering/device_input.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

namespace {

class spec_parser {
public:
    explicit spec_parser(std::string_view text) : text_(text) {}

    [[nodiscard]] result<device_input> parse() {
        const std::size_t end = text_.find('=');
        if (end == std::string_view::npos || end == 0) return wrong("NAME= is missing");
        input_.name = text_.substr(0, end);
        at_ = end + 1;
        HEADRACE_TRY(parse_type());
        while (at_ != text_.size()) {
            HEADRACE_TRY(parse_step());
        }
        return std::move(input_);
    }

private:
    [[nodiscard]] error wrong(std::string_view what) const {
        return malformed(join_text("--input ", printable(text_), ": ", what, " at position ", at_ + 1,
            "; write NAME=DTYPE and steps, such as x=uint8/255-[0.485,0.456,0.406]/[0.229,0.224,0.225] or "
            "x=int16*3.05e-5"));
    }

    [[nodiscard]] result<void> parse_type() {
        constexpr std::array<std::pair<std::string_view, dtype>, 3> types{
            {{"uint8", dtype::uint8}, {"int8", dtype::int8}, {"int16", dtype::int16}}};
        const std::string_view rest = text_.substr(at_);
        const auto* found =
            std::ranges::find_if(types, [&](const auto& t) { return rest.starts_with(t.first); });
        if (found == types.end()) return wrong("there is no uint8, int8 or int16");
        input_.type = found->second;
        at_ += found->first.size();
        return {};
    }

    template <class T>
    [[nodiscard]] result<T> parse_number() {
        T number{};
        const char* const last = text_.data() + text_.size();
        const auto [end, failed] = std::from_chars(text_.data() + at_, last, number);
        if (failed != std::errc{}) return wrong("there is no number");
        if constexpr (std::is_floating_point_v<T>) {
            if (!std::isfinite(number)) return wrong("the number is not finite");
        }
        at_ = static_cast<std::size_t>(end - text_.data());
        return number;
    }

    // A list has brackets or none: "[1,2]", "1,2", "1".
    [[nodiscard]] result<std::vector<double>> parse_numbers() {
        const bool bracketed = at_ != text_.size() && text_[at_] == '[';
        if (bracketed) ++at_;
        std::vector<double> numbers;
        do {
            if (!numbers.empty()) ++at_;
            HEADRACE_TRY(number, parse_number<double>());
            numbers.push_back(number);
        } while (at_ != text_.size() && text_[at_] == ',');
        if (bracketed) {
            if (at_ == text_.size() || text_[at_] != ']') return wrong("a ] is missing");
            ++at_;
        }
        return numbers;
    }

    [[nodiscard]] result<void> parse_step() {
        const std::size_t start = at_;
        const char step = text_[at_++];
        if (step == '@') {
            HEADRACE_TRY(axis, parse_number<std::int64_t>());
            input_.axis = axis;
            if (at_ != text_.size()) return wrong("@AXIS is not the end");
            return {};
        }
        if (std::string_view("*/+-").find(step) == std::string_view::npos) {
            at_ = start;
            return wrong("there is none of * / + - @");
        }
        HEADRACE_TRY(numbers, parse_numbers());
        const std::size_t channels = input_.factors.size();
        if (numbers.size() != 1 && channels != 1 && numbers.size() != channels) {
            at_ = start;
            return wrong("a list of another length than the one before it begins");
        }
        if (step == '/' && std::ranges::find(numbers, 0.0) != numbers.end()) {
            at_ = start;
            return wrong("a division by 0 begins");
        }
        if (numbers.size() > channels) {
            input_.factors.resize(numbers.size(), input_.factors[0]);
            input_.offsets.resize(numbers.size(), input_.offsets[0]);
        }
        for (std::size_t c = 0; c != input_.factors.size(); ++c)
            apply(step, numbers[numbers.size() == 1 ? 0 : c], input_.factors[c], input_.offsets[c]);
        const auto unfit = [](double x) { return std::abs(x) > 1e30; };
        const auto vanishes = [](double x) { return std::abs(x) < 1e-30; };
        if (std::ranges::any_of(input_.factors, unfit) || std::ranges::any_of(input_.offsets, unfit) ||
            std::ranges::any_of(input_.factors, vanishes)) {
            at_ = start;
            return wrong("a step whose result is beyond 1e30, or whose factor is below 1e-30, begins");
        }
        return {};
    }

    static void apply(char step, double number, double& factor, double& offset) {
        switch (step) {
            case '*':
                factor *= number;
                offset *= number;
                break;
            case '/':
                factor /= number;
                offset /= number;
                break;
            case '+':
                offset += number;
                break;
            default:
                offset -= number;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    device_input input_{};
};

struct bounds {
    std::int64_t lowest, highest;
};
bounds bounds_of(dtype type) {
    if (type == dtype::uint8) return {0, 255};
    if (type == dtype::int8) return {-128, 127};
    return {-32768, 32767};
}

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
        std::vector<edge*> readers;
        for (const edge& use : input_.uses()) readers.push_back(const_cast<edge*>(&use));
        before_ = input_.next;
        while (is<builtin::placeholder>(*before_)) before_ = before_->next;
        g_.set_meta(input_.result(), {device_.type, float_meta().shape, {}});
        const value number = numbers();
        for (edge* reader : readers) g_.set_operand(*reader, number);
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
        const bool same = is_uniform(device_.factors) && is_uniform(device_.offsets);
        const double factor = device_.factors.front();
        const double zero = -device_.offsets.front() / factor;
        if (!quantized_) return affine(cast(), 1);
        const auto [lowest, highest] = bounds_of(device_.type);
        const double rounded = std::nearbyint(zero);
        const bool is_whole = std::abs(zero - rounded) < 1e-6 && rounded >= static_cast<double>(lowest) &&
            rounded <= static_cast<double>(highest);
        const bool takes_zero_points = device_.type != dtype::int16 || rounded == 0;
        if (same && factor > 0 && is_whole && takes_zero_points)
            return dequantized(factor, static_cast<std::int64_t>(rounded));
        double largest = 0;
        for (const double f : device_.factors) largest = std::max(largest, std::abs(f));
        return affine(dequantized(largest, 0), largest);
    }

    value cast() {
        return made(g_.create<aten::_to_copy>({.self = input_.result(), .dtype = dtype::float32}, before_));
    }

    value dequantized(double scale, std::int64_t zero_point) {
        const auto [lowest, highest] = bounds_of(device_.type);
        return made(g_.create<quantized_decomposed::dequantize_per_tensor>(
            {input_.result(), scale, zero_point, lowest, highest, device_.type}, before_));
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
    node* before_ = nullptr;
};

}  // namespace

result<device_input> parse_device_input(std::string_view text) { return spec_parser(text).parse(); }

result<void> take_device_integers(program& p, std::span<const device_input> inputs, bool quantized) {
    graph& g = *p.graph;
    for (const device_input& device : inputs) {
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

}  // namespace headrace
