// SPDX-License-Identifier: MIT
// Runs passes for tests, and records what they did.
#include "pass_runs.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include <headrace/ir/listing.hpp>

namespace headrace::testing {

namespace {

/// Records of passes in this executable, written at exit to the file HEADRACE_PASS_RECORDS.
class pass_records {
public:
    pass_records() = default;
    pass_records(const pass_records&) = delete;
    pass_records& operator=(const pass_records&) = delete;
    ~pass_records() {
        const char* path = std::getenv("HEADRACE_PASS_RECORDS");
        if (path == nullptr) return;
        std::ofstream file(path);
        for (const std::string& line : lines_) file << line << '\n';
    }
    void add(std::string line) { lines_.insert(std::move(line)); }

private:
    std::set<std::string> lines_;
};

pass_records& records() {
    static pass_records all;
    return all;
}

std::string text(std::string_view first, std::string_view second, std::string_view third) {
    return std::string(first) + ' ' + std::string(second) + ' ' + std::string(third);
}

/// Returns the graph's listing, unless it is too long to be read.
std::pmr::string shown(const graph& g) {
    constexpr std::size_t longest = 60;
    return g.size() > longest ? std::pmr::string() : "\nthe graph after it:\n" + listing(g);
}

}  // namespace

std::string_view name_of(driver_kind driver) {
    return driver == driver_kind::in_place ? "in place" : "retraced";
}

void record_line(std::string line) { records().add(std::move(line)); }

void record_rewriting(const pass_runner& p, driver_kind driver) {
    std::string_view how = "whole_graph";
    if (!p.whole_graph) how = driver == driver_kind::in_place ? "in_place" : "retracing";
    records().add(text("rewrote", p.name, how));
}

result<node_counts> run_recorded(const pass_runner& p, graph& g, pass_context& context, driver_kind driver) {
    std::map<const graph*, std::uint32_t> bounds;  // nodes from this id on are new
    for_each_graph(g, [&](graph& sub) { bounds[&sub] = sub.id_bound(); });
    std::set<const op_info*> emitted;  // includes ops that the pass has erased again
    context.observe_emissions(
        [](void* ops, const node& n) { static_cast<std::set<const op_info*>*>(ops)->insert(n.op); },
        &emitted);
    result<node_counts> counts = p.run(g, context, driver);
    context.observe_emissions(nullptr, nullptr);
    for (const op_info* op : emitted) records().add(text("emitted", p.name, op->name));
    if (!counts) return counts;
    for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            if (n.id >= bounds[&sub]) records().add(text("emitted", p.name, n.op->name));
        }
    });
    return counts;
}

std::pmr::string run_all(pass_runners passes, graph& g, driver_kind driver) {
    pass_context context({.evaluator = &eval::folding});
    for (const pass_runner& p : passes) {
        const std::pmr::string before = p.whole_graph ? listing(g) : std::pmr::string();
        const result<node_counts> counts = run_recorded(p, g, context, driver);
        if (!counts) return std::pmr::string(p.name) + ": " + counts.error().message;
        if (!context.diagnostics().empty()) {
            return std::pmr::string(p.name) + " refused: " + context.diagnostics()[0].reason;
        }
        // A pass over the whole graph may move nodes without counting them.
        if (counts.value().rewritten != 0 || (p.whole_graph && listing(g) != before)) {
            record_rewriting(p, driver);
        } else if (p.must_rewrite) {
            return std::pmr::string(p.name) + " rewrote nothing";
        }
    }
    return {};
}

std::pmr::string check_runs(
    const builder& build, pass_runners passes, std::span<const tensor> inputs, const result_check& check) {
    for (const driver_kind driver : both_drivers) {
        program after;
        build(after);
        std::pmr::string fault = run_all(passes, after.g, driver);
        if (fault.empty()) {
            const auto results = run_graph(after.g, inputs);
            fault = results ? check(after.g, results.value()) : "after: " + results.error().message;
        }
        if (!fault.empty()) return std::pmr::string(name_of(driver)) + ": " + fault + shown(after.g);
    }
    return {};
}

std::pmr::string compare(
    const builder& build, pass_runners passes, std::vector<tensor> inputs, double tolerance) {
    program before;
    build(before);
    if (!before.fault.empty()) return "inference: " + before.fault;
    if (inputs.empty()) {
        std::mt19937 random(7);
        for (const node& n : before.g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    }
    const auto expected = run_graph(before.g, inputs);
    if (!expected) return "before: " + expected.error().message;
    return check_runs(build, passes, inputs, [&](graph&, std::span<const tensor> results) {
        for (std::size_t i = 0; i != expected.value().size(); ++i) {
            const std::pmr::string difference = tensor_difference(expected.value()[i], results[i], tolerance);
            if (!difference.empty()) return "output " + number_text(i) + ", " + difference;
        }
        return std::pmr::string();
    });
}

std::pmr::string compare_untouched(const builder& build, pass_runners passes) {
    for (const driver_kind driver : both_drivers) {
        for (const pass_runner& p : passes) {
            program given;
            build(given);
            if (!given.fault.empty()) return "inference: " + given.fault;
            const std::pmr::string before = listing(given.g);
            pass_context context({.evaluator = &eval::folding});
            const auto counts = run_recorded(p, given.g, context, driver);
            std::pmr::string fault;
            if (!counts) {
                fault = counts.error().message;
            } else if (!context.diagnostics().empty()) {
                fault = "refused: " + context.diagnostics()[0].reason;
            } else if (counts.value().rewritten != 0) {
                fault = "rewrote " + number_text(counts.value().rewritten) + " nodes";
            } else if (listing(given.g) != before) {
                fault = "changed the graph";
            }
            if (!fault.empty()) {
                return std::pmr::string(name_of(driver)) + ": " + std::pmr::string(p.name) + " " + fault +
                    shown(given.g);
            }
        }
    }
    return {};
}

std::pmr::string first_refusal(const builder& build, pass_runners passes) {
    std::pmr::string reasons[2];
    for (const driver_kind driver : both_drivers) {
        program given;
        build(given);
        pass_context context({.evaluator = &eval::folding});
        std::pmr::string& reason = reasons[driver == driver_kind::retracing];
        for (const pass_runner& p : passes) {
            const auto counts = run_recorded(p, given.g, context, driver);
            if (!counts && reason.empty()) reason = counts.error().message;
        }
        if (!context.diagnostics().empty()) reason = context.diagnostics()[0].reason;
    }
    return reasons[0] == reasons[1] ? reasons[0] : "drivers differ: " + reasons[0] + "; " + reasons[1];
}

}  // namespace headrace::testing
