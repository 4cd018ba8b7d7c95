// SPDX-License-Identifier: MIT
// Defines the texts of headrace/prove/certificate.hpp.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/prove/certificate.hpp>

namespace headrace::prove {

namespace {

std::string format_bound(bound x) {
    if (wide::isinf(x)) return x > 0 ? "inf" : "-inf";
    constexpr bound exact = 1e18L;
    if (wide::abs(x) > exact)
        return join_text(x > 0 ? "" : "-", "2^", static_cast<int>(wide::log2(wide::abs(x))));
    return join_text(static_cast<std::int64_t>(x));
}
std::string format_interval(const interval& i) {
    return join_text('[', format_bound(i.low), ", ", format_bound(i.high), ']');
}
std::string name_of_node(const node& n) {
    const std::string name(printable(origin_name(n)));
    return name.empty() ? std::string(n.op->name) : name;
}
std::string format_place(const node& n) {
    const auto line = source_line(n);
    return join_text(
        name_of_node(n), " (", n.op->name, line.empty() ? "" : ", ", printable(std::string_view(line)), ")");
}
bool has_bits(claim_kind kind) {
    return kind == claim_kind::accumulator || kind == claim_kind::arithmetic ||
        kind == claim_kind::scale_input || kind == claim_kind::scale_result || kind == claim_kind::cast;
}
std::string_view advice_for(const claim& c) {
    switch (c.kind) {
        case claim_kind::accumulator:
            return bits_for(c.allowed) < 47
                ? "smaller weights, fewer terms, or int16 activations, whose sums are int48"
                : "smaller weights or fewer terms";
        case claim_kind::arithmetic:
            return "a coarser scale, or clamp the operands first";
        case claim_kind::scale_input:
            return "a larger shift with a multiplier as much larger, or clamp the operand first";
        case claim_kind::scale_result:
            return "a smaller multiplier or a larger shift";
        case claim_kind::scale_factor:
            return "a shift in [2, 62] and a multiplier that is not negative";
        case claim_kind::table_slope:
            return "a table whose neighbours differ by less than 2^15";
        case claim_kind::shift_amount:
            return "clamp the amounts";
        case claim_kind::divisor:
            return "clamp the divisor away from 0";
        case claim_kind::cast:
            return "clamp before the cast";
        case claim_kind::index:
            return "clamp the indices";
    }
    return "";
}

std::string kind_line(const kind_summary& k) {
    std::string line = join_text(k.count, " ", name_of(k.kind, k.count != 1), ": ");
    if (k.fullest.assumed)
        return line +
            join_text("assumed to be in ", format_interval(k.fullest.allowed), " where an input has them");
    if (!has_bits(k.kind)) {
        if (k.fullest.holds()) return line + (k.count == 1 ? "valid" : "all valid");
        return line + "not all valid";
    }
    const int bits = bits_for(k.fullest.computed);
    return line +
        join_text("at most ", bits == 128 ? "unlimited" : join_text(bits), " of ",
            bits_for(k.fullest.allowed), " bits, ", format_place(*k.fullest.where));
}
std::string unproven_line(const unproven_claim& u) {
    const claim& c = u.which;
    std::string line = join_text(
        u.refuted ? "overflows: " : "not proven: ", name_of(c.kind), " of ", format_place(*c.where));
    if (c.channel != 0) line += join_text(", channel ", c.channel);
    line +=
        join_text(": bounded by ", format_interval(c.computed), ", allowed are ", format_interval(c.allowed));
    if (u.refuted) line += join_text("; an input gives ", format_bound(u.refuted->number.reached));
    return line + join_text("; use ", advice_for(c));
}

void write_claim(json_writer& out, const claim& c) {
    const auto write_bound = [&](std::string_view name, bound x) {
        if (wide::isinf(x)) return out.member(name, nullptr);
        if (wide::abs(x) < 9e18L) return out.member(name, static_cast<std::int64_t>(x));
        out.member(name, static_cast<double>(x));
    };
    out.member("kind", name_of(c.kind));
    out.member("node", origin_name(*c.where));
    out.member("op", c.where->op->name);
    const auto line = source_line(*c.where);
    if (!line.empty()) out.member("source", std::string_view(line));
    out.member("channel", c.channel);
    write_bound("low", c.computed.low);
    write_bound("high", c.computed.high);
    write_bound("allowed_low", c.allowed.low);
    write_bound("allowed_high", c.allowed.high);
}

}  // namespace

std::string certificate_conclusion(const certificate& c) {
    if (c.no_overflow()) {
        return join_text("certified: no integer overflows for any input",
            c.assumed.empty() ? "" : " whose indices are valid");
    }
    if (c.unproven.empty())
        return join_text("not certified: ", c.foreign.size(), " CUSTOM op",
            c.foreign.size() == 1 ? " computes" : "s compute", " what only their backend knows");
    const auto refuted = static_cast<std::size_t>(
        std::ranges::count_if(c.unproven, [](const unproven_claim& u) { return u.refuted.has_value(); }));
    return join_text("not certified: of ", c.unproven.size(), " number", c.unproven.size() == 1 ? "" : "s",
        " that may overflow, ", refuted, refuted == 1 ? " does" : " do", " for inputs that were found");
}

std::string certificate_text(const certificate& c) {
    std::string text;
    for (const kind_summary& k : c.kinds) text += kind_line(k) + '\n';
    for (const unproven_claim& u : c.unproven) text += unproven_line(u) + '\n';
    return text + certificate_conclusion(c) + '\n';
}

std::string certificate_json(const certificate& c) {
    json_writer out;
    out.begin_object();
    out.member("certified", c.no_overflow());
    out.begin_array("kinds");
    for (const kind_summary& k : c.kinds) {
        out.begin_object();
        out.member("count", k.count);
        if (has_bits(k.kind)) {
            out.member("bits", bits_for(k.fullest.computed));
            out.member("of_bits", bits_for(k.fullest.allowed));
        }
        write_claim(out, k.fullest);
        out.end_object();
    }
    out.end_array();
    out.begin_array("unproven");
    for (const unproven_claim& u : c.unproven) {
        out.begin_object();
        write_claim(out, u.which);
        out.member("overflows", u.refuted.has_value());
        if (u.refuted) out.member("reached", format_bound(u.refuted->number.reached));
        out.member("advice", advice_for(u.which));
        out.end_object();
    }
    out.end_array();
    out.begin_array("assumed");
    for (const claim& a : c.assumed) {
        out.begin_object();
        write_claim(out, a);
        out.end_object();
    }
    out.end_array();
    out.member("custom_ops", c.foreign.size());
    out.end_object();
    return std::move(out).text();
}

}  // namespace headrace::prove
