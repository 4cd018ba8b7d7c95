// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/device/normalized_input.hpp.

#include <headrace/lowering/device/normalized_input.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

namespace {

// The numbers of a constant: one, or one for each element of an axis.
struct channel_numbers {
    std::vector<double> numbers;
    std::optional<std::int64_t> axis{};
};

// Returns a constant that broadcasts to the shape along one axis at most.
std::optional<channel_numbers> channel_numbers_of(value v, sizes shape) {
    const tensor_meta* meta = meta_of(v);
    if (!is<builtin::constant>(*v.producer) || meta == nullptr || meta->rank() > shape.size())
        return std::nullopt;
    channel_numbers found;
    const std::size_t left = shape.size() - meta->rank();
    for (std::size_t i = 0; i != meta->rank(); ++i) {
        if (meta->shape[i] == 1) continue;
        if (found.axis || meta->shape[i] != shape[left + i]) return std::nullopt;
        found.axis = static_cast<std::int64_t>(left + i);
    }
    const auto reals = constant_reals(v);
    if (!reals || reals->empty()) return std::nullopt;
    found.numbers.assign(reals->begin(), reals->end());
    return found;
}

class chain_reader {
public:
    explicit chain_reader(const node& input) : input_(input), shape_(input.results[0].meta->shape) {
        found_.device.name = input.name();
        found_.device.type = input.results[0].meta->dtype;
    }

    [[nodiscard]] std::optional<normalized_input> read() {
        const dtype type = found_.device.type;
        if (type != dtype::uint8 && type != dtype::int8 && type != dtype::int16) return std::nullopt;
        value at{const_cast<node*>(&input_), 0};
        while (const node* reader = sole_reader(at)) {
            const value next{const_cast<node*>(reader), 0};
            const tensor_meta* meta = reader->result_count == 1 ? meta_of(next) : nullptr;
            if (meta == nullptr || meta->dtype != dtype::float32 || !std::ranges::equal(meta->shape, shape_))
                break;
            if (!step(*reader, at)) break;
            at = next;
            found_.numbers = next;
        }
        if (!found_.numbers) return std::nullopt;
        return found_;
    }

private:
    // Returns the only node that reads the value, but for checks of its type; null if there are several.
    static const node* sole_reader(value v) {
        const node* reader = nullptr;
        for (const edge& use : v.producer->uses()) {
            if (is<aten::_assert_tensor_metadata>(*use.target)) continue;
            if (reader != nullptr) return nullptr;
            reader = use.target;
        }
        return reader;
    }

    // Applies the node to the numbers; false if it is none of the steps.
    bool step(const node& n, value at) {
        if (n.op->has(trait::casting) || is<aten::_to_copy>(n)) return n.operand(0) == at;
        if (const auto* a = args_if<aten::mul_tensor>(n))
            return apply(
                a->self == at ? a->other : a->self, [](double x, double& f, double& o) { (f *= x, o *= x); });
        if (const auto* a = args_if<aten::div_tensor>(n))
            return a->self == at && apply(a->other, [](double x, double& f, double& o) { (f /= x, o /= x); });
        if (const auto* a = args_if<aten::add_tensor>(n))
            return is_one(a->alpha) &&
                apply(a->self == at ? a->other : a->self, [](double x, double&, double& o) { o += x; });
        if (const auto* a = args_if<aten::sub_tensor>(n))
            return a->self == at && is_one(a->alpha) &&
                apply(a->other, [](double x, double&, double& o) { o -= x; });
        return false;
    }

    static bool is_one(const scalar& alpha) { return alpha.to_double() == 1; }

    template <class F>
    bool apply(value other, F f) {
        const auto by = channel_numbers_of(other, shape_);
        device_input made = found_.device;
        const std::size_t channels = made.factors.size();
        if (!by || (by->axis && made.axis && by->axis != made.axis)) return false;
        const std::size_t count = by->numbers.size();
        if (count != 1 && channels == 1) {
            made.factors.resize(count, made.factors[0]);
            made.offsets.resize(count, made.offsets[0]);
            made.axis = by->axis;
        }
        for (std::size_t c = 0; c != made.factors.size(); ++c)
            f(by->numbers[count == 1 ? 0 : c], made.factors[c], made.offsets[c]);
        // Beyond these, float32 overflows or has subnormal numbers.
        const auto fits = [](double x) { return std::abs(x) <= 1e30 && std::abs(x) >= 1e-30; };
        const auto is_offset = [](double x) { return std::abs(x) <= 1e30; };
        if (!std::ranges::all_of(made.factors, fits) || !std::ranges::all_of(made.offsets, is_offset))
            return false;
        found_.device = std::move(made);
        return true;
    }

    const node& input_;
    sizes shape_;
    normalized_input found_{};
};

}  // namespace

std::optional<normalized_input> normalized_input_at(const node& input) { return chain_reader(input).read(); }

}  // namespace headrace
