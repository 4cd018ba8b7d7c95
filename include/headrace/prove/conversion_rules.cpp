// SPDX-License-Identifier: MIT
// Defines the rules of TOSA's RESCALE, CAST and TABLE.
#include <algorithm>
#include <array>
#include <cmath>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/tosa/fixed_point.hpp>
#include <headrace/prove/query.hpp>

namespace headrace::prove {

namespace {

constexpr interval int32_numbers = interval_of(dtype::int32);
constexpr interval int48_numbers = interval_of(dtype::int48);

bound numbers_in(dtype t) {
    const interval all = interval_of(t);
    return all.high - all.low + 1;
}
// Integers of a signed type, read as unsigned, and back.
interval read_unsigned(const interval& i, dtype t) {
    const bound count = numbers_in(t);
    if (i.low >= 0 || interval_of(t).low >= 0) return i;
    return i.high < 0 ? i + number(count) : interval{0, count - 1};
}
interval stored_signed(const interval& i, dtype t) {
    const interval all = interval_of(t);
    if (i.high <= all.high) return i;
    return i.low > all.high ? i - number(numbers_in(t)) : all;
}

/// One channel of a RESCALE.
struct scaling {
    query& q;
    const args<tosa::rescale>& a;
    interval in_zp, out_zp;

    explicit scaling(query& asked, const args<tosa::rescale>& arguments)
        : q(asked),
          a(arguments),
          in_zp(asked.all_of(arguments.input_zp)),
          out_zp(asked.all_of(arguments.output_zp)) {
        if (a.input_unsigned) in_zp = read_unsigned(in_zp, meta_of(a.input)->dtype);
        if (a.output_unsigned) out_zp = read_unsigned(out_zp, q.type());
    }
    interval operator()(interval x, std::int64_t multiplier, std::int64_t shift, std::size_t channel) const {
        if (a.input_unsigned) x = read_unsigned(x, meta_of(a.input)->dtype);
        const interval shifts{2, 62};
        q.claim_within(claim_kind::scale_factor, number(static_cast<bound>(shift)), shifts, channel);
        const interval factors{0, a.scale32 ? int32_numbers.high : interval_of(dtype::int16).high};
        if (!factors.contains(static_cast<bound>(multiplier)))
            q.claim_within(
                claim_kind::scale_factor, number(static_cast<bound>(multiplier)), factors, channel);
        interval allowed = int48_numbers;
        if (a.scale32) {
            const auto usable = static_cast<int>(std::clamp<std::int64_t>(shift, 1, 32));
            const bound limit = wide::ldexp(bound{1}, usable - 1);
            allowed = {-limit, limit - 1};
        }
        const interval given = x - in_zp;
        q.claim_within(claim_kind::scale_input, given, allowed, channel);
        const interval held = given & allowed;
        const bool twice = a.scale32 && a.rounding_mode == rounding_mode::double_round;
        const auto scaled = [&](bound b) {
            return static_cast<bound>(
                eval::apply_scale(static_cast<std::int64_t>(b), {multiplier, shift}, twice));
        };
        const interval result = number(scaled(held.low)) | number(scaled(held.high));
        q.claim_within(claim_kind::scale_result, result | (result + out_zp), int32_numbers, channel);
        const interval stored =
            a.output_unsigned ? interval{0, numbers_in(q.type()) - 1} : interval_of(q.type());
        const interval saturated = (result + out_zp) & stored;
        return a.output_unsigned ? stored_signed(saturated, q.type()) : saturated;
    }
};

bool scales_channels(const query& q, const args<tosa::rescale>& a, const eval::tensor& multipliers) {
    const int_list& shape = q.result_meta().shape;
    return !a.per_channel || multipliers.size() == 1 ||
        (!shape.empty() && shape.back() == multipliers.size());
}
void rescale(query& q, const args<tosa::rescale>& a) {
    const eval::tensor* const multipliers = q.constant(a.multiplier);
    const eval::tensor* const shifts = q.constant(a.shift);
    if (multipliers == nullptr || shifts == nullptr || multipliers->size() == 0 ||
        shifts->size() != multipliers->size() || !scales_channels(q, a, *multipliers))
        return q.claim_within(claim_kind::scale_factor, interval{}, {2, 62}, 0);  // computed, or too few
    const scaling scale(q, a);
    const std::size_t last = q.result_meta().rank() - 1;
    const bool by_channel = a.per_channel && q.result_meta().rank() != 0 && multipliers->size() > 1;
    if (!by_channel) {
        spread out = q(a.input);
        for (std::size_t i = 0; i != out.parts.size(); ++i)
            out.parts[i] = scale(out.parts[i], multipliers->integer(0), shifts->integer(0), i);
        return q.give(out);
    }
    const spread in = q(a.input).along(last);
    std::vector<interval> parts;
    for (std::int64_t c = 0; c != multipliers->size(); ++c) {
        const auto channel = static_cast<std::size_t>(c);
        parts.push_back(scale(in.at(channel), multipliers->integer(c), shifts->integer(c), channel));
    }
    q.give({last, std::move(parts)});
}

void cast(query& q, const args<tosa::cast>& a) {
    const spread& in = q(a.input);
    const bool from_float = is_floating(meta_of(a.input)->dtype);
    if (is_boolean(q.type())) return;
    if (!q.is_integral())
        return q.give(in.mapped([&](const interval& i) { return rounded_to(q.type(), i); }));
    const spread computed = from_float ? in.mapped([](const interval& i) {
        return map_bounds(i, [](bound x) { return wide::nearbyint(x); });
    })
                                       : in;
    q.claim_within(claim_kind::cast, computed, interval_of(q.type()));
    q.give(computed);
}

// TABLE of int16: 512 lines between 513 points, each of 128 numbers; seven more bits in the result.
class interpolated_table {
public:
    explicit interpolated_table(const eval::tensor& table) : points_(table.to<std::int64_t>()) {}

    [[nodiscard]] interval values(const interval& x) const {
        interval all = number(value_at(x.low)) | number(value_at(x.high));
        for (std::size_t i = line_of(x.low) + 1; i <= line_of(x.high); ++i)
            all = all | number(static_cast<bound>(128 * points_[i]));
        return all;
    }
    [[nodiscard]] interval slopes(const interval& x) const {
        interval all = number(slope(line_of(x.low)));
        for (std::size_t i = line_of(x.low); i <= line_of(x.high); ++i) all = all | number(slope(i));
        return all;
    }

private:
    static std::size_t line_of(bound x) {
        return static_cast<std::size_t>((static_cast<std::int64_t>(x) >> 7) + 256);
    }
    [[nodiscard]] bound slope(std::size_t line) const {
        return static_cast<bound>(points_[line + 1] - points_[line]);
    }
    [[nodiscard]] bound value_at(bound x) const {
        const std::size_t line = line_of(x);
        const std::int64_t fraction = static_cast<std::int64_t>(x) & 127;
        return static_cast<bound>(128 * points_[line]) + slope(line) * static_cast<bound>(fraction);
    }

    std::vector<std::int64_t> points_;
};

void table(query& q, const args<tosa::table>& a) {
    const eval::tensor* const known = q.constant(a.table);
    const bool wide = meta_of(a.input1)->dtype == dtype::int16;
    if (known == nullptr || known->size() != (wide ? 513 : 256)) {
        const interval entries = q.all_of(a.table);
        if (wide) q.claim_within(claim_kind::table_slope, entries - entries, interval_of(dtype::int16), 0);
        return q.give(wide ? entries * number(128) : entries);
    }
    if (wide) {
        const interpolated_table lines(*known);
        const spread& in = q(a.input1);
        q.claim_within(claim_kind::table_slope, lines.slopes(in.all()), interval_of(dtype::int16), 0);
        return q.give(in.mapped([&](const interval& i) { return lines.values(i); }));
    }
    const std::vector<std::int64_t> entries = known->to<std::int64_t>();
    q.give(q(a.input1).mapped([&](const interval& i) {
        const auto first = entries.begin() + static_cast<std::ptrdiff_t>(i.low) + 128;
        const auto last = entries.begin() + static_cast<std::ptrdiff_t>(i.high) + 129;
        const auto [least, most] = std::minmax_element(first, last);
        return interval{static_cast<bound>(*least), static_cast<bound>(*most)};
    }));
}

}  // namespace

std::span<const rule> conversion_rules() {
    static constexpr std::array rules{
        rule_of<tosa::rescale, rescale>, rule_of<tosa::cast, cast>, rule_of<tosa::table, table>};
    return rules;
}

}  // namespace headrace::prove
