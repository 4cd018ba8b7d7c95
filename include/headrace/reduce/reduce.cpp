// SPDX-License-Identifier: MIT
// Defines the functions of headrace/reduce/reduce.hpp.

#include <headrace/reduce/reduce.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <headrace/base/mix.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/reduce/delta_debugging.hpp>
#include <headrace/reduce/rebuild.hpp>
#include <headrace/reduce/splat.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

namespace {

using reducing::item_list;
using reducing::rebuild_plan;
using reducing::stand_in;

bool is_computed(const node& n) {
    return !is<builtin::placeholder>(n) && !is<builtin::constant>(n) && !is<builtin::output>(n);
}

// The listing does not have the elements of constants.
std::uint64_t hash_of(const program& p) {
    std::uint64_t hash = std::hash<std::string_view>()(listing(*p.graph));
    hash = mix(mix(hash, p.user_outputs), p.mutations.size());
    for (const node& n : p.graph->nodes_of(info_of<builtin::constant>)) {
        const tensor_data& data = args_of<builtin::constant>(n).data;
        hash = mix(hash, reinterpret_cast<std::uintptr_t>(data.bytes));
        for (const std::int64_t stride : data.strides) hash = mix(hash, static_cast<std::uint64_t>(stride));
    }
    return hash;
}

bool can_be_splat(const node& n) {
    if (!is<builtin::constant>(n) || n.results[0].meta == nullptr) return false;
    return !reducing::is_splat(n) && reducing::splat(*n.results[0].meta, true).has_value();
}

const node* first_input_like(const node& n) {
    for (const node& other : n.owner->inputs()) {
        if (same_meta(other.results[0].meta, n.results[0].meta)) return &other;
    }
    return nullptr;
}
bool is_input_like_another(const node& n) {
    return is<builtin::placeholder>(n) && n.results[0].meta != nullptr && first_input_like(n) != &n;
}

// The copy refers to the original's constants.
std::shared_ptr<program> copy_of(const program& p) {
    auto made = std::make_shared<program>();
    made->graph = std::make_unique<graph>();
    made->graph->set_target(p.graph->target());
    copy_graph(*p.graph, *made->graph);
    made->user_outputs = p.user_outputs;
    made->mutations = p.mutations;
    made->torch_version = p.torch_version;
    return made;
}

class reducer {
public:
    reducer(const program& p, is_interesting test, const reduce_options& options)
        : best_(copy_of(p)), test_(test), options_(options), best_hash_(hash_of(*best_)) {
        done_.nodes = count_computed(*best_->graph);
    }

    [[nodiscard]] result<reduction> run() {
        HEADRACE_TRY(holds, ask(*best_));
        if (!holds) return unsupported("the test does not hold for the model itself");
        for (std::uint64_t before = 0; before != best_hash_;) {
            before = best_hash_;
            HEADRACE_TRY(run_strategies());
        }
        return reduction{std::move(*best_), done_};
    }

private:
    [[nodiscard]] result<void> run_strategies() {
        HEADRACE_TRY(drop_what_nothing_reads());
        HEADRACE_TRY(drop_outputs());
        HEADRACE_TRY(leave_out_nodes(&is_computed, stand_in::input, true));
        HEADRACE_TRY(leave_out_nodes(&is_computed, stand_in::operand));
        HEADRACE_TRY(leave_out_nodes(&is_computed, stand_in::ones, true));
        HEADRACE_TRY(drop_operands());
        HEADRACE_TRY(leave_out_nodes(&is_input_like_another, stand_in::same_type));
        if (!options_.keeps_sizes) {
            HEADRACE_TRY(shrink_sizes_everywhere());
            HEADRACE_TRY(shrink_sizes_one_by_one());
        }
        if (options_.keeps_constants) return {};
        HEADRACE_TRY(leave_out_nodes(&can_be_splat, stand_in::zeros));
        return leave_out_nodes(&can_be_splat, stand_in::ones);
    }

    // --- tests -------------------------------------------------------------------------

    [[nodiscard]] result<bool> ask(const program& p) {
        ++done_.tests;
        return test_(p);
    }

    // Returns whether the candidate is interesting; it is then the smallest program.
    [[nodiscard]] result<bool> try_program(std::optional<program> candidate) {
        if (!candidate) return false;
        const std::uint64_t hash = hash_of(*candidate);
        if (hash == best_hash_) return true;
        if (refused_.contains(hash)) return false;
        bool holds = false;
        if (verify(*candidate->graph)) {
            HEADRACE_TRY(asked, ask(*candidate));
            holds = asked;
        }
        if (holds) {
            best_ = std::make_shared<program>(*std::move(candidate));
            best_hash_ = hash;
            done_.nodes = count_computed(*best_->graph);
        } else {
            refused_.insert(hash);
        }
        done_.is_smaller = holds;
        if (options_.after_test) {
            HEADRACE_TRY(options_.after_test(done_, *best_));
        }
        return holds;
    }

    // Leaves out as many of the items as possible: `make(kept)` makes the program without the others.
    [[nodiscard]] result<void> leave_out(
        item_list items, function_ref<std::optional<program>(const item_list& kept)> make) {
        HEADRACE_TRY(reducing::leave_out(
            std::move(items), [&](const item_list& kept) { return try_program(make(kept)); }));
        return {};
    }

    // --- strategies --------------------------------------------------------------------

    [[nodiscard]] result<void> drop_what_nothing_reads() {
        HEADRACE_TRY(try_program(reducing::rebuild(*best_, {.stand_ins = {}})));
        if (best_->mutations.empty()) return {};
        HEADRACE_TRY(try_program(reducing::rebuild(*best_, {.stand_ins = {}, .forgets_write_backs = true})));
        return {};
    }

    [[nodiscard]] result<void> drop_outputs() {
        const std::shared_ptr<const program> base = best_;
        item_list positions(base->graph->outputs().size());
        std::iota(positions.begin(), positions.end(), 0U);
        if (positions.size() < 2) return {};
        return leave_out(positions, [&](const item_list& kept) {
            rebuild_plan plan{.stand_ins = {}, .outputs = std::vector<bool>(positions.size())};
            for (const std::uint32_t i : kept) plan.outputs[i] = true;
            return reducing::rebuild(*base, plan);
        });
    }

    [[nodiscard]] result<void> leave_out_nodes(
        bool (*is_item)(const node&), stand_in instead, bool adds_outputs = false) {
        const std::shared_ptr<const program> base = best_;
        item_list ids;
        for (const node& n : base->graph->nodes()) {
            if (is_item(n)) ids.push_back(n.id);
        }
        return leave_out(ids, [&](const item_list& kept) {
            rebuild_plan plan{
                .stand_ins = std::vector<stand_in>(base->graph->id_bound()), .adds_outputs = adds_outputs};
            for (const std::uint32_t id : ids) plan.stand_ins[id] = instead;
            for (const std::uint32_t id : kept) plan.stand_ins[id] = stand_in::none;
            return reducing::rebuild(*base, plan);
        });
    }

    [[nodiscard]] result<void> drop_operands() {
        const std::shared_ptr<const program> base = best_;
        const std::vector<reducing::optional_operand> all = reducing::optional_operands(*base->graph);
        item_list positions(all.size());
        std::iota(positions.begin(), positions.end(), 0U);
        return leave_out(positions, [&](const item_list& kept) {
            rebuild_plan plan{.stand_ins = {}};
            for (const std::uint32_t i : positions) {
                if (!std::ranges::binary_search(kept, i)) plan.without.push_back(all[i]);
            }
            return reducing::rebuild(*base, plan);
        });
    }

    [[nodiscard]] result<void> shrink_sizes_everywhere() {
        for (bool any = true; any;) {
            any = false;
            descending_sizes all;
            for (const node* n : sources()) add_sizes(*n, all);
            for (const std::int64_t size : all) {
                HEADRACE_TRY(holds, shrink(size, nullptr));
                any = any || holds;
            }
        }
        return {};
    }
    [[nodiscard]] result<void> shrink_sizes_one_by_one() {
        for (std::size_t i = 0; i != sources().size(); ++i) {
            for (bool any = true; any;) {
                any = false;
                descending_sizes all;
                add_sizes(*sources()[i], all);
                for (const std::int64_t size : all) {
                    HEADRACE_TRY(holds, shrink(size, sources()[i]));
                    any = any || holds;
                }
            }
        }
        return {};
    }
    // Makes a size 1, else 2, else half of it.
    [[nodiscard]] result<bool> shrink(std::int64_t size, const node* only) {
        const std::shared_ptr<const program> base = best_;
        for (const std::int64_t to : std::set<std::int64_t>{1, 2, size / 2}) {
            if (to >= size) continue;
            HEADRACE_TRY(holds, try_program(reducing::resize(*base, {.from = size, .to = to, .only = only})));
            if (holds) return true;
        }
        return false;
    }
    using descending_sizes = std::set<std::int64_t, std::greater<>>;
    static void add_sizes(const node& source, descending_sizes& to) {
        if (source.results[0].meta == nullptr) return;
        for (const std::int64_t size : source.results[0].meta->shape) {
            if (size > 1) to.insert(size);
        }
    }
    // Inputs and constants, in order.
    [[nodiscard]] std::vector<const node*> sources() const {
        std::vector<const node*> all;
        for (const node& n : best_->graph->nodes()) {
            if (is<builtin::placeholder>(n) || is<builtin::constant>(n)) all.push_back(&n);
        }
        return all;
    }

    std::shared_ptr<program> best_;
    is_interesting test_;
    const reduce_options& options_;
    std::uint64_t best_hash_;
    reduction_progress done_{};
    std::unordered_set<std::uint64_t> refused_{};
};

}  // namespace

result<reduction> reduce_program(const program& p, is_interesting test, const reduce_options& options) {
    return reducer(p, test, options).run();
}

std::size_t count_computed(const graph& g) {
    return static_cast<std::size_t>(std::ranges::count_if(g.nodes(), &is_computed));
}

}  // namespace headrace
