// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/op_support.hpp.

#include <headrace/show/op_support.hpp>

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/io/program.hpp>
#include <headrace/lowering/lower.hpp>

namespace headrace {

namespace {

// Draws and lowers programs of one op.
class op_probe {
public:
    op_probe(const op_info& op, const std::optional<target_spec>& target) : op_(op), target_(target) {}

    [[nodiscard]] op_support_table run() {
        op_support_table table;
        for (std::size_t c = 0; c != element_classes.size(); ++c) {
            for (std::size_t rank = 0; rank != probed_ranks; ++rank)
                table[c][rank] = probe(element_classes[c], rank);
        }
        return table;
    }

private:
    static constexpr std::size_t enough = 3;

    [[nodiscard]] op_support probe(const element_class& elements, std::size_t rank) const {
        samples::op_programs programs(op_, elements, rank);
        op_support found;
        while (found.lowered + found.refused != enough) {
            const auto all = programs.next();
            if (!all) break;
            if (!programs.make(*all)) continue;
            const auto target = target_ ? target_ : elements.target();
            const auto reason = refusal([&] { return *programs.make(*all); }, target);
            if (!reason) {
                ++found.lowered;
                continue;
            }
            if (found.reason.empty()) found.reason = *reason;
            // Models often read only the first result: indices and statistics are for training.
            const auto of_first_result = [&] { return with_first_result(*programs.make(*all)); };
            if (op_.results != 1 && !refusal(of_first_result, target)) ++found.lowered;
            ++found.refused;
        }
        return found;
    }

    // Returns why the program is refused, or nothing if it is lowered.
    [[nodiscard]] static std::optional<std::pmr::string> refusal(
        const program_source& source, const std::optional<target_spec>& target) {
        const lowering_outcome outcome = try_lowering(source, {.target = target, .any_order = true});
        if (outcome.failure) return outcome.failure->message;
        if (!outcome.refusals.empty()) return outcome.refusals[0].reason;
        return std::nullopt;
    }
    [[nodiscard]] static program with_first_result(program p) {
        graph& g = *p.graph;
        const value first = g.outputs()[0];
        g.erase(*g.output());
        g.create<builtin::output>({.values = list<value>(&first, 1)});
        p.user_outputs = 1;
        return p;
    }

    const op_info& op_;
    const std::optional<target_spec>& target_;
};

}  // namespace

op_support_table support_of(const op_info& op, const std::optional<target_spec>& target) {
    return op_probe(op, target).run();
}

std::vector<const op_info*> probed_ops() {
    std::vector<const op_info*> ops;
    const auto add = [&](const op_info* op) {
        constexpr trait left_out = trait::in_place | trait::writes_out | trait::host_number;
        if (!op->has(left_out) && op->results != 0) ops.push_back(op);
    };
    std::ranges::for_each(op_table<aten::dialect>, add);
    std::ranges::for_each(op_table<dim_order_ops::dialect>, add);
    std::ranges::sort(ops, {}, &op_info::name);
    return ops;
}

}  // namespace headrace
