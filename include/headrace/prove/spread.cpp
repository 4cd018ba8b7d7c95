// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/spread.hpp.

#include <headrace/prove/spread.hpp>

#include <functional>
#include <numeric>

#include <headrace/eval/element.hpp>

namespace headrace::prove {

namespace {

std::int64_t product_after(sizes shape, std::size_t axis) {
    return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end(),
        std::int64_t{1}, std::multiplies<>());
}

// One axis of a row-major shape: element i is at position i / after % size.
struct row_major_axis {
    std::int64_t size, after;

    row_major_axis(sizes shape, std::size_t axis) : size(shape[axis]), after(product_after(shape, axis)) {}
    [[nodiscard]] std::int64_t span() const { return size * after; }
};

// The new axis merges the old one with others, or is it.
std::vector<interval> repeated(const spread& a, const row_major_axis& from, const row_major_axis& to) {
    std::vector<interval> parts;
    for (std::int64_t i = 0; i != to.size; ++i)
        parts.push_back(a.at(static_cast<std::size_t>(i * to.after / from.after % from.size)));
    return parts;
}
// The new axis is a factor of the old one.
std::vector<interval> divided(const spread& a, const row_major_axis& from, const row_major_axis& to) {
    const auto place = [&](std::int64_t i) {
        return static_cast<std::size_t>(i * from.after / to.after % to.size);
    };
    std::vector<interval> parts(
        static_cast<std::size_t>(to.size), {interval::unlimited, -interval::unlimited});
    for (std::int64_t i = 0; i != from.size; ++i) {
        interval& part = parts[place(i)];
        part = part | a.at(static_cast<std::size_t>(i));
    }
    return parts;
}

}  // namespace

spread::spread(std::size_t along, std::vector<interval> of_positions)
    : axis(along), parts(std::move(of_positions)) {
    if (parts.empty()) parts.push_back(number(0));
    if (parts.size() == 1) axis = no_axis;
}

interval spread::all() const {
    interval hull = parts[0];
    for (const interval& i : parts) hull = hull | i;
    return hull;
}

spread spread_of(const eval::tensor& known) {
    const auto& shape = known.shape();
    if (known.size() == 0 || shape.empty()) {
        if (known.size() == 0) return number(0);
        return number(static_cast<bound>(known.real(0)));
    }
    const auto is_long = [](std::int64_t size) { return size > 1; };
    std::size_t axis = shape.size() - 1;
    if (std::ranges::count_if(shape, is_long) == 1)
        axis = static_cast<std::size_t>(std::ranges::find_if(shape, is_long) - shape.begin());
    const row_major_axis by(shape, axis);
    std::vector<interval> parts(
        static_cast<std::size_t>(by.size), {interval::unlimited, -interval::unlimited});
    eval::visit_elements(known.type(), [&]<class T>(T) {
        const auto elements = known.data<T>();
        for (std::size_t i = 0; i != elements.size(); ++i) {
            interval& part = parts[i / static_cast<std::size_t>(by.after) % parts.size()];
            bound x = 0;
            if constexpr (std::is_integral_v<T>) {
                x = static_cast<bound>(elements[i]);
            } else {
                x = static_cast<bound>(eval::element_cast<double>(elements[i]));
            }
            part = x == x ? part | number(x) : interval{};  // NaN has no bounds
        }
    });
    return {axis, std::move(parts)};
}

spread reshaped(const spread& a, sizes from, sizes to) {
    if (a.is_uniform()) return a;
    const row_major_axis old(from, a.axis);
    if (old.span() == 0) return number(0);
    spread best = a.all();
    for (std::size_t axis = 0; axis != to.size(); ++axis) {
        const row_major_axis by(to, axis);
        if (by.size <= 1) continue;
        if (old.after % by.after == 0 && by.span() % old.span() == 0) {
            return {axis, repeated(a, old, by)};
        }
        const bool divides = by.after % old.after == 0 && old.span() % by.span() == 0;
        if (divides && static_cast<std::size_t>(by.size) > best.parts.size())
            best = {axis, divided(a, old, by)};
    }
    return best;
}

spread reduced(const spread& a, std::size_t over, std::int64_t count,
    const std::function<interval(const interval&, std::int64_t)>& fold,
    const std::function<interval(const interval&, const interval&)>& join) {
    if (a.axis != over) return a.mapped([&](const interval& i) { return fold(i, count); });
    interval all = fold(a.parts[0], 1);
    for (std::size_t i = 1; i != a.parts.size(); ++i) all = join(all, fold(a.parts[i], 1));
    return all;
}

}  // namespace headrace::prove
