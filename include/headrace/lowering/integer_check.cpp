// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/integer_check.hpp.

#include <headrace/lowering/integer_check.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/ranges/integer_width.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/pass/run_pass.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

namespace {

// True if a graph, or one of its regions, computes integers of 32 or 64 bits.
bool computes_wide_integers(const graph& g) {
    bool found = false;
    for_each_graph(g, [&](const graph& sub) {
        for (const node& n : sub.nodes()) {
            if (found || is_of_dialect<builtin::dialect>(n)) continue;
            for (std::uint32_t i = 0; i != n.result_count; ++i)
                found = found || detail::may_be_wide(n.results[i].meta);
        }
    });
    return found;
}

// Returns "mul (net.py:12, int64)".
std::string described(const node& n, std::uint32_t result) {
    const std::string line(source_line(n));
    const std::string_view comma = line.empty() ? "" : ", ";
    const std::string_view name = origin_name(n).empty() ? n.op->name : origin_name(n);
    return join_text(printable(name), " (", line, comma, name_of(n.results[result].meta->dtype), ")");
}

std::string format_bound(bound x) {
    constexpr bound limit = 0x1p63L;
    if (x >= limit) return "2^63 and more";
    return x < -limit ? "less than -2^63" : std::to_string(static_cast<std::int64_t>(x));
}
std::string format_range(const interval& range) {
    return join_text("[", format_bound(range.low), ", ", format_bound(range.high), "]");
}

// Returns "a, b and 3 more".
std::string named_in_list(const std::vector<std::string>& names) {
    constexpr std::size_t max_named = 6;
    std::string text;
    for (std::size_t i = 0; i != names.size(); ++i) {
        if (i == max_named) return text + join_text(" and ", names.size() - max_named, " more");
        if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}

std::string format_warning(const integer_widths& widths) {
    std::vector<std::string> values;
    std::vector<std::string> inputs;
    for (const wide_integer& w : widths.values) {
        if (!w.certain) values.push_back(described(*w.which.producer, w.which.result));
    }
    for (const assumed_input& input : widths.inputs) {
        if (!input.computed_with) continue;
        inputs.push_back(join_text("input '", printable(input.which->name()), "' (int64) holds values in ",
            format_range(input.held)));
    }
    if (values.empty() && inputs.empty()) return {};
    bool narrows = !inputs.empty();
    for (const wide_integer& w : widths.values) narrows = narrows || w.type == dtype::int64;
    std::string text = narrows
        ? "int64 becomes int32, as TOSA 1.0 has no INT64; this assumes that "
        : "TOSA 1.0 leaves open what becomes of int32 that wraps around; this assumes that ";
    text += named_in_list(inputs);
    if (!inputs.empty() && !values.empty()) text += ", and that ";
    text += named_in_list(values);
    if (!values.empty()) text += values.size() == 1 ? " stays within 32 bits" : " stay within 32 bits";
    return text + "; --strict refuses it";
}

std::string format_reason(const wide_integer& w) {
    constexpr std::string_view way_out =
        "; lower to a .pte file, whose kernels compute it, or compute it as float32";
    const bool wraps = w.type == dtype::int32;
    const std::string_view why = wraps
        ? ", where PyTorch wraps int32 around and TOSA 1.0 leaves the result open"
        : ", which 32 bits do not hold, and TOSA 1.0 has no INT64";
    if (w.certain) return join_text("its values are in ", format_range(w.computed), why, way_out);
    return join_text("it may not fit in 32 bits, as far as is known before the program runs",
        wraps ? "" : ", and TOSA 1.0 has no INT64", way_out);
}

// In PyTorch, the least int32 is its own negation; TOSA leaves this case open (TOSA 1.0, 2.3: SUB and ABS).
class negation_guard {
public:
    explicit negation_guard(graph& g) : ranges_(g) {}

    // In execution order: value ranges are those before the rewrites.
    void rewrite(graph& g) const {
        std::vector<node*> found;
        for (node& n : g.nodes()) {
            if ((is<aten::neg>(n) || is<aten::abs>(n)) && n.results[0].meta != nullptr &&
                n.results[0].meta->dtype == dtype::int32 && meta_of(n.operand(0)) != nullptr &&
                ranges_.held_by(n.operand(0)).contains(lowest))
                found.push_back(&n);
        }
        for (node* n : found) guard(g, *n);
    }

private:
    static constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();

    static void guard(graph& g, node& n) {
        const value x = n.operand(0);
        const tensor_meta meta = *n.results[0].meta;
        const auto add = [&]<op_tag Op>(const args<Op>& a, dtype type) {
            node& made = g.create<Op>(a, &n);
            g.set_meta(made.result(), {type, meta.shape, {}});
            g.inherit_annotations(made, n);
            return made.result();
        };
        const auto constant = [&](std::int32_t number) {
            return create_constant(g, {dtype::int32, {}, {}}, &n,
                [&](std::span<std::byte> bytes) { std::memcpy(bytes.data(), &number, sizeof number); });
        };
        const value is_lowest = add.operator()<aten::eq_tensor>({x, constant(lowest)}, dtype::boolean);
        const value other = add.operator()<aten::maximum>({x, constant(lowest + 1)}, dtype::int32);
        const value done = is<aten::neg>(n) ? add.operator()<aten::neg>({other}, dtype::int32)
                                            : add.operator()<aten::abs>({other}, dtype::int32);
        const value chosen = add.operator()<aten::where_self>({is_lowest, x, done}, dtype::int32);
        chosen.producer->results[0].name = n.results[0].name;
        g.replace_all_uses(n.result(), chosen);
        g.erase(n);
    }

    value_ranges ranges_;
};

// True if computing a constant needs 64 bits.
bool has_wide_constants(const graph& g) {
    const value_ranges ranges(g);
    const integer_needs needs(g, ranges);
    for (const node& n : g.nodes()) {
        if (is_of_dialect<builtin::dialect>(n)) continue;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const value v{const_cast<node*>(&n), i};
            const value_bounds b = ranges.of(v);
            if (!b.varies && detail::may_be_wide(n.results[i].meta) && needs.of(v) > integer_need::modular &&
                !detail::narrow_integers.contains(b.computed))
                return true;
        }
    }
    return false;
}

bool may_negate_lowest(const graph& g) {
    return g.census().count(info_of<aten::neg>) != 0 || g.census().count(info_of<aten::abs>) != 0;
}

}  // namespace

result<void> prepare_integers(graph& g) {
    if (!computes_wide_integers(g)) return {};
    graph functional;
    functional.set_target(g.target());
    copy_graph(g, functional);
    if (!make_functional(functional)) return {};  // the pipeline will report why
    bool negates = false;
    for_each_graph(functional, [&](const graph& sub) { negates = negates || may_negate_lowest(sub); });
    const bool folds = has_wide_constants(functional);
    if (!negates && !folds) return {};
    HEADRACE_TRY(make_functional(g));
    if (folds) {
        pass_context context(standard_functions);
        HEADRACE_TRY(apply_pass(fold_constants{}, g, context));
    }
    if (negates) {
        const negation_guard guard(g);
        for_each_graph(g, [&](graph& sub) { guard.rewrite(sub); });
    }
    return {};
}

result<integer_check> check_integers(const graph& g, bool strict) {
    integer_check check;
    if (!computes_wide_integers(g)) return check;
    graph functional;
    functional.set_target(g.target());
    copy_graph(g, functional);
    if (!make_functional(functional)) return check;  // the pipeline will report why
    HEADRACE_TRY(prepare_integers(functional));
    const integer_widths widths = find_wide_integers(functional);
    pass_context refusals;
    for (const wide_integer& w : widths.values) {
        if (w.certain || strict) refusals.report(*w.which.producer, format_reason(w));
    }
    if (strict) {
        for (const assumed_input& input : widths.inputs) {
            if (!input.computed_with) continue;
            refusals.report(*input.which,
                "its values may not fit in 32 bits, and TOSA 1.0 has no INT64; make it "
                "an input of int32, or leave --strict out to assume that they do");
        }
    }
    check.refusals = refusals.diagnostics();
    if (!strict) check.warning = format_warning(widths);
    return check;
}

}  // namespace headrace
