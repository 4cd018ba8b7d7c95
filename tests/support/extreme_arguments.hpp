// SPDX-License-Identifier: MIT
// Defines headrace::samples::extreme_arguments, which tries arguments of an op that hardly any program has.
#ifndef HEADRACE_TESTS_SUPPORT_EXTREME_ARGUMENTS_HPP
#define HEADRACE_TESTS_SUPPORT_EXTREME_ARGUMENTS_HPP

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/show/sample_arguments.hpp>

namespace headrace::samples {

inline constexpr std::int64_t beyond_int32 = std::int64_t{1} << 31;
inline constexpr std::int64_t extreme_integers[] = {
    0, 1, -1, 2, 3, 7, INT32_MAX, beyond_int32, -beyond_int32, INT64_MAX, INT64_MIN, INT64_MIN + 1};

/// Returns replacements for an operand: ranks 0, 1 and 7, one size or the rank changed, other dtypes, other
/// data.
[[nodiscard]] inline std::vector<operand> extremes_of(const operand& o) {
    std::vector<operand> all;
    const auto add_shape = [&](integers shape) { all.push_back({o.type, std::move(shape), o.data}); };
    for (const dtype type :
        {dtype::boolean, dtype::int8, dtype::uint8, dtype::int16, dtype::int32, dtype::int64, dtype::uint64,
            dtype::float16, dtype::bfloat16, dtype::float64, dtype::complex64, dtype::float8_e5m2}) {
        all.push_back({type, o.shape, o.data});
    }
    all.push_back({o.type, o.shape, operand::content::extreme});
    all.push_back({o.type, o.shape, operand::content::zeros});
    for (const integers& shape : {integers{}, {0}, {1}, {5}, {beyond_int32}, {1, 1, 1, 1, 1, 1, 1},
             {2, 1, 2, 1, 2, 1, 2}, {0, beyond_int32}, {beyond_int32, 0, 3}}) {
        add_shape(shape);
    }
    for (std::size_t d = 0; d != o.shape.size(); ++d) {
        for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, o.shape[d] + 1, beyond_int32}) {
            integers shape = o.shape;
            shape[d] = size;
            add_shape(shape);
        }
        integers without = o.shape;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(d));
        add_shape(without);
    }
    integers longer = o.shape;
    longer.push_back(2);
    add_shape(longer);
    return all;
}

/// Returns replacements for an argument. Only members that count for the field's type are changed.
[[nodiscard]] inline std::vector<argument> extremes_of(const field_info& field, const argument& a) {
    std::vector<argument> all;
    const auto add = [&](auto change) {
        all.push_back(a);
        all.back().absent = false;
        change(all.back());
    };
    if (field.optional)
        all.push_back({.absent = !a.absent, .tensors = a.tensors, .ints = a.ints, .reals = a.reals});
    switch (field.kind) {
        case field_kind::tensors:
        case field_kind::optional_tensors:
            add([](argument& b) { b.tensors.clear(); });
            if (a.tensors.empty()) break;
            add([](argument& b) { b.tensors.pop_back(); });
            add([](argument& b) { b.tensors.push_back(b.tensors[0]); });
            add([](argument& b) { b.tensors.resize(9, b.tensors[0]); });
            if (field.kind == field_kind::optional_tensors)
                add([](argument& b) { b.tensors.back().reset(); });
            [[fallthrough]];
        case field_kind::tensor:
            for (std::size_t i = 0; i != a.tensors.size(); ++i) {
                if (!a.tensors[i]) continue;
                for (const operand& o : extremes_of(*a.tensors[i])) {
                    add([&](argument& b) { b.tensors[i] = o; });
                }
            }
            break;
        case field_kind::integers:
            add([](argument& b) { b.ints.clear(); });
            add([](argument& b) { b.ints.push_back(1); });
            add([](argument& b) { b.ints.resize(20, 1); });
            if (!a.ints.empty()) add([](argument& b) { b.ints.pop_back(); });
            for (const std::int64_t extreme : extreme_integers) {
                add([=](argument& b) { b.ints = {extreme}; });
                for (std::size_t i = 0; i != a.ints.size(); ++i) {
                    add([=](argument& b) { b.ints[i] = extreme; });
                }
            }
            break;
        case field_kind::integer:
        case field_kind::boolean:
            for (const std::int64_t extreme : extreme_integers) {
                add([=](argument& b) { b.ints = {extreme}; });
            }
            break;
        case field_kind::floating:
        case field_kind::floatings:
            for (const double extreme : {0.0, -1.0, 1e-300, 1e300, std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::quiet_NaN()}) {
                add([=](argument& b) { b.reals.assign(std::max<std::size_t>(1, b.reals.size()), extreme); });
            }
            if (field.kind == field_kind::floatings) {
                add([](argument& b) { b.reals.clear(); });
                add([](argument& b) { b.reals.resize(9, 1.0); });
            }
            break;
        case field_kind::number:
            for (const scalar& extreme : {scalar(0), scalar(-1), scalar(INT64_MIN), scalar(INT64_MAX),
                     scalar(1e300), scalar(1e-300), scalar(std::numeric_limits<double>::quiet_NaN()),
                     scalar(-std::numeric_limits<double>::infinity()), scalar(true)}) {
                add([&](argument& b) { b.number = extreme; });
            }
            break;
        case field_kind::text:
            for (const char* text : {"", "same", "valid", "circular", "floor", "x", "...", "i", "ii->i",
                     "ij,...->", "i,j,k,l,m->", "->", "a...b,c->...", ",,", "... i , j"}) {
                add([&](argument& b) { b.text = text; });
            }
            break;
        case field_kind::element_type:
            for (std::size_t t = 0; t != dtype_count; ++t) {
                add([&](argument& b) { b.type = static_cast<dtype>(t); });
            }
            break;
        default:
            break;
    }
    return all;
}

/// Tries small arguments until some are accepted, then replaces them by extreme ones.
class extreme_arguments {
public:
    /// Returns whether arguments are accepted.
    using trial = std::function<bool(const arguments&)>;

    /// Small arguments are drawn up to `tries` times.
    extreme_arguments(const op_info& op, std::mt19937& random, trial take, std::size_t tries = 20000)
        : op_(op), random_(random), take_(std::move(take)), tries_(tries) {}

    /// Calls `found` with up to `most` accepted arguments, and returns their number.
    std::size_t find(std::size_t most, const std::function<void(const arguments&)>& found) {
        small_arguments small(random_);
        std::size_t count = 0;
        for (std::size_t i = 0; i != tries_ && count != most; ++i) {
            const arguments all = small.draw(op_);
            if (!take_(all)) continue;
            ++count;
            found(all);
        }
        return count;
    }
    /// Replaces each argument separately.
    void replace_each(const arguments& all) {
        for (std::size_t i = 0; i != op_.field_count; ++i) {
            for (const argument& a : extremes_of(op_.fields[i], all[i])) {
                arguments changed = all;
                changed[i] = a;
                take_(changed);
            }
        }
    }
    /// Replaces `changes` arguments, chosen at random.
    void replace_some(const arguments& all, std::size_t changes) {
        arguments changed = all;
        while (changes-- != 0) {
            const std::size_t i = random_() % op_.field_count;
            const std::vector<argument> extremes = extremes_of(op_.fields[i], changed[i]);
            if (!extremes.empty()) changed[i] = extremes[random_() % extremes.size()];
        }
        take_(changed);
    }

private:
    const op_info& op_;
    std::mt19937& random_;
    trial take_;
    std::size_t tries_;
};

/// Returns the number of cases in HEADRACE_OPERAND_CASES.
[[nodiscard]] inline std::size_t cases_wanted(std::size_t otherwise) {
    const char* given = std::getenv("HEADRACE_OPERAND_CASES");
    return given == nullptr ? otherwise : static_cast<std::size_t>(std::atoll(given));
}
/// True unless HEADRACE_OPERAND_OP names another op.
[[nodiscard]] inline bool is_wanted(const op_info& op) {
    const char* given = std::getenv("HEADRACE_OPERAND_OP");
    return given == nullptr || op.name == given;
}

}  // namespace headrace::samples

#endif
