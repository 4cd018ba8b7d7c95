// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/difference_kind.hpp.

#include <headrace/compare/difference_kind.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include <headrace/base/strings.hpp>
#include <headrace/eval/iterate.hpp>

namespace headrace {

namespace {

using text = std::optional<std::string>;

struct tolerance {
    double part = 0;   // of the magnitude
    double least = 0;  // of the largest magnitude in the tensor, since sums cancel
};

tolerance tolerance_of(dtype type) {
    switch (type) {
        case dtype::float64:
        case dtype::float32:
            return {1e-4, 1e-6};
        case dtype::float16:
            return {1.0 / 256, 1.0 / 2560};
        case dtype::bfloat16:
            return {1.0 / 32, 1.0 / 320};
        default:
            return {};
    }
}

// Most of what differs must be explained, not all: a kernel may have a second fault.
bool is_most(std::size_t count, std::size_t of) { return of != 0 && 50 * count >= 49 * of; }

/// Both tensors as numbers, and the questions that the kinds are told by.
class compared {
public:
    compared(const tensor& expected, const tensor& got, const element_differences& differing)
        : expected_(expected),
          got_(got),
          x_(expected.to<double>()),
          y_(got.to<double>()),
          where_(differing.where),
          largest_(differing.largest) {}

    [[nodiscard]] text constant() const {
        if (x_.size() < 2 || !std::ranges::all_of(y_, [&](double y) { return y == y_[0]; })) return {};
        if (y_[0] == 0) return "all elements are 0: the memory was never written, or cleared";
        return join_text("all elements are ", shortest_text(y_[0]), ": nothing was written after a fill");
    }

    // The bytes of an earlier tensor, at the same place: this layer did not run, or wrote elsewhere.
    [[nodiscard]] text stale(std::span<const earlier_tensor> earlier) const {
        const auto mine = got_.bytes();
        for (const earlier_tensor& t : earlier) {
            const std::size_t count = std::min(mine.size(), t.bytes.size());
            if (count >= 8 && 2 * count >= mine.size() &&
                std::memcmp(mine.data(), t.bytes.data(), count) == 0)
                return join_text("the bytes of ", t.name, ": the layer did not run, or wrote elsewhere");
        }
        return {};
    }

    [[nodiscard]] text byte_order() const {
        const std::size_t width = eval::element_bytes(got_.type());
        if (width == 1) return {};
        std::vector<std::byte> swapped(got_.bytes().begin(), got_.bytes().end());
        for (std::size_t at = 0; at + width <= swapped.size(); at += width)
            std::reverse(&swapped[at], &swapped[at] + width);
        const auto expected = expected_.bytes();
        if (std::ranges::equal(swapped, expected)) return "the bytes of each element are in reverse order";
        return {};
    }

    [[nodiscard]] text transposed() const {
        const std::size_t rank = expected_.rank();
        if (rank < 2 || rank > 4) return {};
        std::vector<std::size_t> order(rank);
        std::iota(order.begin(), order.end(), std::size_t{0});
        while (std::ranges::next_permutation(order).found) {
            const std::vector<double> moved = eval::permuted(expected_, order).to<double>();
            if (moved != x_ && agree(moved))
                return join_text("another order of the axes: ", layout_text(order), " instead of ",
                    layout_text(identity(rank)));
        }
        return {};
    }

    // All elements lie some places further on along an axis.
    [[nodiscard]] text shifted() const {
        const auto& shape = expected_.shape();
        std::int64_t inner = 1;
        for (std::size_t axis = shape.size(); axis-- != 0; inner *= shape[axis]) {
            for (std::int64_t by = 1; by <= std::min<std::int64_t>(4, shape[axis] - 1); ++by) {
                for (const std::int64_t d : {by, -by}) {
                    if (is_shifted(inner, shape[axis], d))
                        return join_text(axis + 1 == shape.size() ? "channels" : "elements",
                            " are shifted by ", d, " along axis ", axis);
                }
            }
        }
        return {};
    }

    [[nodiscard]] text of_signs() const {
        if (bits() == 0) return {};
        const double half = std::ldexp(1, bits() - 1);
        if (!is_explained([&](double x, double y) { return std::abs(y - x) == half; })) return {};
        return "the highest bit of each element: signed and unsigned were mixed up";
    }

    [[nodiscard]] text saturated() const {
        if (bits() == 0) return {};
        const double range = std::ldexp(1, bits());
        const auto [low, high] = std::ranges::minmax(y_);
        const auto [least, most] = std::ranges::minmax(x_);
        if (is_explained(
                [&](double x, double y) { return (x == least || x == most) && std::abs(y - x) > range / 2; }))
            return "the board wraps around where the result saturates";
        if ((low <= least && high >= most) ||
            !is_explained([&](double x, double y) { return y == std::clamp(x, low, high); }))
            return {};
        return join_text("clamped to [", shortest_text(low), ", ", shortest_text(high),
            "]: another activation or saturation");
    }

    [[nodiscard]] text offset() const {
        std::vector<double> steps;
        for (const std::size_t i : where_) steps.push_back(y_[i] - x_[i]);
        std::ranges::nth_element(steps, steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2));
        const double d = steps[steps.size() / 2];
        const auto [low, high] = std::ranges::minmax(y_);
        const auto is_moved = [&](double x, double y) { return y == std::clamp(x + d, low, high); };
        std::size_t count = 0;
        for (std::size_t i = 0; i != x_.size(); ++i) count += is_moved(x_[i], y_[i]) ? 1 : 0;
        if (d == 0 || x_.size() < 2 || !is_most(count, x_.size())) return {};
        return join_text("all elements are off by ", shortest_text(d), ": another zero point");
    }

    [[nodiscard]] text rounding() const {
        if (bits() == 0 || largest_ > 1) return {};
        return join_text("off by one: another rounding", place());
    }

    // The place of the elements, if they are not everywhere.
    [[nodiscard]] text local() const {
        const std::string where = place();
        if (where.empty()) return {};
        return "elements" + where;
    }

private:
    [[nodiscard]] static std::vector<std::size_t> identity(std::size_t rank) {
        std::vector<std::size_t> order(rank);
        std::iota(order.begin(), order.end(), std::size_t{0});
        return order;
    }
    // Four axes are an image's.
    [[nodiscard]] static std::string layout_text(std::span<const std::size_t> order) {
        std::string out;
        for (const std::size_t axis : order)
            out += order.size() == 4 ? std::string(1, "NHWC"[axis])
                                     : (out.empty() ? "" : ",") + std::to_string(axis);
        return out;
    }
    // The bits of an integer; 0 for other dtypes.
    [[nodiscard]] int bits() const {
        switch (got_.type()) {
            case dtype::int8:
            case dtype::uint8:
                return 8;
            case dtype::int16:
            case dtype::uint16:
                return 16;
            case dtype::int32:
                return 32;
            default:
                return 0;
        }
    }
    [[nodiscard]] bool agree(std::span<const double> numbers) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i != y_.size(); ++i) count += numbers[i] == y_[i] ? 1 : 0;
        return is_most(count, y_.size());
    }
    [[nodiscard]] bool is_shifted(std::int64_t inner, std::int64_t size, std::int64_t by) const {
        std::size_t count = 0, all = 0;
        for (std::int64_t i = 0; i != static_cast<std::int64_t>(y_.size()); ++i) {
            const std::int64_t at = i / inner % size - by;
            if (at < 0 || at >= size) continue;
            ++all;
            count += y_[static_cast<std::size_t>(i)] == x_[static_cast<std::size_t>(i - by * inner)] ? 1 : 0;
        }
        return all >= 4 && is_most(count, all);
    }
    [[nodiscard]] bool is_explained(const std::function<bool(double, double)>& by) const {
        std::size_t count = 0;
        for (const std::size_t i : where_) count += by(x_[i], y_[i]) ? 1 : 0;
        return is_most(count, where_.size());
    }

    [[nodiscard]] std::string place() const {
        if (where_.size() == x_.size()) return {};
        const auto& shape = expected_.shape();
        const std::size_t channels = shape.empty() ? 1 : static_cast<std::size_t>(shape.back());
        std::set<std::size_t> met;
        for (const std::size_t i : where_) met.insert(i % channels);
        if (met.size() == 1 && channels > 1 && x_.size() > channels)
            return join_text(" of channel ", *met.begin(), " alone: its weights, bias, multiplier or shift");
        if (where_.front() + where_.size() == x_.size())
            return join_text(" from ", where_.front(), " of ", x_.size(), " on: the end of a loop");
        if (const auto border = border_place()) return *border;
        return {};
    }
    // A window of a convolution or of pooling reads beyond the image at its border alone.
    [[nodiscard]] text border_place() const {
        const auto& shape = expected_.shape();
        if (shape.size() != 4 || shape[1] < 3 || shape[2] < 3) return {};
        const auto is_inside = [&](std::size_t i) {
            const auto pixel = static_cast<std::int64_t>(i) / shape[3];
            const std::int64_t column = pixel % shape[2], row = pixel / shape[2] % shape[1];
            return column != 0 && column + 1 != shape[2] && row != 0 && row + 1 != shape[1];
        };
        if (std::ranges::any_of(where_, is_inside)) return {};
        return " at the border of the image alone: its padding";
    }

    const tensor& expected_;
    const tensor& got_;
    std::vector<double> x_, y_;
    std::span<const std::size_t> where_;
    double largest_;
};

}  // namespace

element_differences differences_of(const tensor& expected, const tensor& got) {
    const tolerance granted = tolerance_of(expected.type());
    const std::vector<double> x = expected.to<double>(), y = got.to<double>();
    element_differences found;
    double most = 0;
    for (const double number : x)
        if (std::isfinite(number)) most = std::max(most, std::abs(number));
    for (std::size_t i = 0; i != x.size(); ++i) {
        if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
        const double d = std::abs(x[i] - y[i]);
        if (d <= granted.part * std::abs(x[i]) + granted.least * most) continue;
        found.where.push_back(i);
        found.largest = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(found.largest, d);
    }
    return found;
}

std::string difference_kind(const tensor& expected, const tensor& got, const element_differences& differing,
    std::span<const earlier_tensor> earlier) {
    const compared both(expected, got, differing);
    // A kind that explains more elements exactly comes first.
    for (const text& kind :
        {both.constant(), both.stale(earlier), both.byte_order(), both.of_signs(), both.offset(),
            both.saturated(), both.rounding(), both.transposed(), both.shifted(), both.local()})
        if (kind) return *kind;
    return "of no known kind";
}

}  // namespace headrace
