// SPDX-License-Identifier: MIT
// `headrace show --support`: what becomes of each op, by its operand's elements and rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/show/op_support.hpp>

#include "commands.hpp"
#include "messages.hpp"
#include "suggestions.hpp"
#include "threads.hpp"

namespace headrace::cli {

namespace {

using class_support = std::array<op_support, probed_ranks>;

/// `0-2, 4` for the ranks of which that holds.
template <class Holds>
std::string ranks_where(const class_support& by_rank, Holds holds) {
    std::string text;
    for (std::size_t rank = 0; rank != probed_ranks; ++rank) {
        if (!holds(by_rank[rank])) continue;
        std::size_t last = rank;
        while (last + 1 != probed_ranks && holds(by_rank[last + 1])) ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
        if (last != rank) text += fmt::format("-{}", last);
        rank = last;
    }
    return text;
}

std::string lowered_ranks(const class_support& by_rank) {
    return ranks_where(by_rank, [](const op_support& s) { return s.lowered != 0; });
}

/// The ranks that are lowered, with a star if that depends on the arguments; `no` if nothing is.
std::string cell(const class_support& by_rank) {
    const auto is = [&](auto what) { return std::ranges::any_of(by_rank, what); };
    if (!is(&op_support::is_known)) return "";
    const std::string ranks = lowered_ranks(by_rank);
    if (ranks.empty()) return "no";
    return ranks + (is([](const op_support& s) { return s.refused != 0; }) ? " *" : "");
}

void print_table(const std::vector<const op_info*>& ops, const std::vector<op_support_table>& tables) {
    std::size_t width = 0;
    for (const op_info* op : ops) width = std::max(width, op->name.size());
    const auto print_line = [&](std::string_view name, const auto& cells) {
        std::string line = fmt::format("{:<{}}", name, width);
        for (const auto& text : cells) line += fmt::format(" {:<9}", text);
        fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    };
    std::array<std::string, element_classes.size()> cells;
    std::ranges::transform(element_classes, cells.begin(), [](const auto& c) { return std::string(c.name); });
    print_line("op", cells);
    for (std::size_t i = 0; i != ops.size(); ++i) {
        std::ranges::transform(tables[i], cells.begin(), cell);
        print_line(ops[i]->name, cells);
    }
}

/// Each reason once, with the ranks of which it is.
void print_refusals(const class_support& by_rank) {
    std::vector<std::pmr::string> told;
    for (const op_support& s : by_rank) {
        if (s.reason.empty() || std::ranges::find(told, s.reason) != told.end()) continue;
        told.push_back(s.reason);
        const auto same = [&](const op_support& other) { return other.reason == s.reason; };
        fmt::print("{:<12} rank {}: {}{}\n", "", ranks_where(by_rank, same),
            s.lowered != 0 ? "some are refused: " : "refused: ", printable(s.reason, max_printed_message));
    }
}

void print_op(const op_info& op, const op_support_table& table) {
    fmt::print("{}\n", op.name);
    for (std::size_t c = 0; c != table.size(); ++c) {
        if (std::ranges::none_of(table[c], &op_support::is_known)) continue;
        const std::string ranks = lowered_ranks(table[c]);
        fmt::print(
            "  {:<10} {}\n", element_classes[c].name, ranks.empty() ? "refused" : "lowered, rank " + ranks);
        print_refusals(table[c]);
    }
}

}  // namespace

int show_support(const show_options& options) {
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    std::vector<const op_info*> ops = probed_ops();
    if (!options.op.empty()) {
        const auto wanted = std::ranges::find(ops, options.op, &op_info::name);
        if (wanted == ops.end()) {
            std::vector<std::string_view> names(ops.size());
            std::ranges::transform(ops, names.begin(), &op_info::name);
            return report_usage(fmt::format("Headrace has no op '{}', so models with it are refused{}",
                options.op, did_you_mean(options.op, names)));
        }
        ops = {*wanted};
    }
    std::vector<op_support_table> tables(ops.size());
    on_threads(0)(ops.size(), [&](std::size_t i) { tables[i] = support_of(*ops[i], target); });
    options.op.empty() ? print_table(ops, tables) : print_op(*ops[0], tables[0]);
    return status_ok;
}

}  // namespace headrace::cli
