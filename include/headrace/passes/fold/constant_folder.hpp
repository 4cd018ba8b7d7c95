// SPDX-License-Identifier: MIT
// Defines headrace::detail::constant_folder, which computes the constant nodes of one graph.
#ifndef HEADRACE_PASSES_FOLD_CONSTANT_FOLDER_HPP
#define HEADRACE_PASSES_FOLD_CONSTANT_FOLDER_HPP

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/constant_evaluator.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/rewrite/emit.hpp>

namespace headrace::detail {

/// A result of more than 64 KiB is not stored if it is larger than the constants it is computed from, so that
/// a broadcast number does not become a table; smaller results computed from it are stored. Dequantized
/// numbers are not stored either: weights stay quantized. They are computed only if integers are computed
/// from them. RESCALEs stay by default, as targets fuse them with their readers. The total work for a graph
/// is limited by the size of its constants: a long chain on a large `full` is cut off.
class constant_folder {
public:
    constant_folder(graph& g, const constant_evaluator* evaluator, bool folds_rescales = false)
        : graph_(g), evaluator_(evaluator), folds_rescales_(folds_rescales) {}

    std::size_t fold() {
        const std::size_t viewed = view_moved_constants();
        if (evaluator_ == nullptr) return viewed;
        places_.assign(graph_.id_bound(), unknown);
        for (node& n : graph_.nodes()) {
            if (is_read(n)) {
                work_left_ += work_per_byte * bytes_of(n);
            } else if (is_computable(n)) {
                compute(n);
            }
        }
        const pmr_vector<node*> stored = choose_stored();
        for (node* n : stored) {
            store(*n);
            known(*n).results.clear();
        }
        for (node* n : stored) erase_dead(graph_, *n);
        return viewed + stored.size();
    }

private:
    static constexpr std::uint64_t small = std::uint64_t{64} << 10U;
    static constexpr std::uint64_t max_growth = std::uint64_t{64} << 20U;  // of results beyond operands
    // Limits on the bytes that all nodes read and write: a multiple of the constants' bytes, plus a constant.
    static constexpr std::uint64_t work_per_byte = 8;
    static constexpr std::uint64_t max_further_work = std::uint64_t{512} << 20U;
    static constexpr std::uint64_t products_per_byte = 16;  // multiplications that take as long as a byte

    using dequantize_ops =
        ops<quantized_decomposed::dequantize_per_tensor, quantized_decomposed::dequantize_per_channel>;

    struct computed {
        node* of;
        pmr_vector<constant_evaluator::tensor_type> results{};
        std::uint64_t from_bytes = 0;  // of the constants it is computed from
        bool folded = false;
        bool dequantized = false;
        bool kept = false;  // stays a node, being too large or dequantized
    };
    static constexpr std::uint32_t unknown = static_cast<std::uint32_t>(-1);

    // Few nodes of a graph are computed from constants only: just these and their operands have entries.
    [[nodiscard]] bool is_known(const node& n) const { return places_[n.id] != unknown; }
    [[nodiscard]] bool is_constant(const node& n) const { return is_known(n) || is_read(n); }
    [[nodiscard]] computed& known(const node& n) { return known_[places_[n.id]]; }
    computed& know(node& n) {
        places_[n.id] = static_cast<std::uint32_t>(known_.size());
        return known_.emplace_back(computed{&n});
    }

    // A reshaped constant becomes a view of the same bytes, as does a large transposed one, so that a
    // model with gigabytes of weights needs no copy of them.
    std::size_t view_moved_constants() {
        pmr_vector<node*> viewed;
        // A RESHAPE of a TRANSPOSE, or vice versa, is found once its operand is a view.
        for (std::size_t before = SIZE_MAX; viewed.size() != before;) {
            before = viewed.size();
            view_moved_constants<tosa::reshape>(viewed);
            view_moved_constants<tosa::transpose>(viewed);
        }
        for (node* n : viewed) erase_dead(graph_, *n);
        return viewed.size();
    }
    template <class Op>
    void view_moved_constants(pmr_vector<node*>& viewed) {
        for (node& n : graph_.nodes_of(info_of<Op>)) {
            if (n.first_use == nullptr) continue;
            const auto view = view_of<Op>(n);
            if (!view) continue;
            node& made = graph_.create<builtin::constant>({.data = {view->bytes, view->strides}}, &n);
            graph_.set_meta(made.result(), *n.results[0].meta);
            replace(n.result(), made.result());
            viewed.push_back(&n);
        }
    }
    struct constant_view {
        const std::byte* bytes;
        shape_builder strides;  // empty: row-major
    };
    // Returns a RESHAPE of a constant, or a TRANSPOSE of a large one, as a view; else nothing.
    template <class Op>
    static std::optional<constant_view> view_of(const node& n) {
        const value from = n.operand(0);
        const auto* constant = match<builtin::constant>(from);
        if (constant == nullptr || !has_metadata(n)) return std::nullopt;
        const tensor_meta& to = *n.results[0].meta;
        if (traits_of(to.dtype).bits % 8 != 0) return std::nullopt;
        // Otherwise the view would show bytes that the constant does not have.
        if (to.dtype != meta_of(from)->dtype || to.elements() != meta_of(from)->elements())
            return std::nullopt;
        const tensor_data& data = constant->data;
        constant_view view{data.bytes, {}};
        if constexpr (std::is_same_v<Op, tosa::reshape>) {
            return data.strides.empty() ? std::optional(view) : std::nullopt;
        } else {
            if (bytes_of(n) <= small) return std::nullopt;
            const shape_builder strides = strides_of(data, meta_of(from)->shape);
            for (const std::int64_t axis : args_of<Op>(n).perms)
                view.strides.push_back(strides[static_cast<std::size_t>(axis)]);
            return view;
        }
    }
    static shape_builder strides_of(const tensor_data& data, sizes shape) {
        if (!data.strides.empty()) return shape_builder(data.strides);
        shape_builder strides = shape_builder::filled(shape.size(), 1);
        for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
        return strides;
    }
    void replace(value old, value made) {
        graph_.inherit_annotations(*made.producer, *old.producer);
        made.producer->results[0].name = old.producer->results[old.result].name;
        graph_.replace_all_uses(old, made);
    }

    // Returns the computed nodes that become constants; frees the results of the others. Users are
    // visited first: a node is not needed if all its users are stored.
    pmr_vector<node*> choose_stored() {
        pmr_vector<node*> stored;
        for (std::size_t i = known_.size(); i-- != 0;) {
            computed& c = known_[i];
            const bool needed = c.folded && is_needed(*c.of);
            c.kept = needed && (stays_dequantized(c) || bytes_of(*c.of) > std::max(small, c.from_bytes));
            if (needed && !c.kept) {
                stored.push_back(c.of);
            } else {
                c.results.clear();
            }
        }
        return stored;
    }

    // True if dequantized numbers are not stored. They are stored if a folded comparison was computed
    // from them, so that all parts of a rounding see the same number; on a target without floats they are
    // needed as integers.
    [[nodiscard]] bool stays_dequantized(const computed& c) const {
        const bool decided = !c.results.empty() && !set_of<dequantize_ops>.contains(c.of->op->functional());
        return c.dequantized && !(decided && graph_.target().has(target_feature::profile_fp));
    }

    [[nodiscard]] bool is_computable(const node& n) const {
        return is_pure(n) && (folds_rescales_ || !n.op->has(trait::per_reader)) &&
            !is<tosa::const_shape>(n) && !is<tosa::const_>(n);
    }
    static std::uint64_t bytes_of(const node& n) {
        std::uint64_t bytes = 0;
        for (std::uint32_t i = 0; i != n.result_count; ++i) bytes += packed_bytes(*n.results[i].meta);
        return bytes;
    }
    static std::uint64_t operand_bytes_of(const node& n) {
        std::uint64_t bytes = 0;
        for (const edge& e : n.operand_edges()) bytes += bytes_of(*e.source);
        return bytes;
    }
    static bool has_metadata(const node& n) {
        return !std::ranges::any_of(std::span(n.results, n.result_count),
            [](const result_slot& r) { return !r.meta || r.meta->dtype == dtype::shape; });
    }
    static bool is_read(const node& n) {
        return (is<builtin::constant>(n) || is<tosa::const_shape>(n)) && n.results[0].meta != nullptr;
    }

    void compute(node& n) {
        if (std::ranges::any_of(n.operand_edges(), [&](const edge& e) { return !is_constant(*e.source); }))
            return;
        if (!has_metadata(n) || bytes_of(n) > max_computed_bytes) return;
        bool dequantized = set_of<dequantize_ops>.contains(n.op->functional());
        for (const edge& e : n.operand_edges()) {
            if (is_read(*e.source)) continue;
            if (!known(*e.source).folded) return;
            dequantized = dequantized || known(*e.source).dequantized;
        }
        dequantized = dequantized && is_floating(n.results[0].meta->dtype);
        for (const edge& e : n.operand_edges()) {
            if (!dequantized && !is_evaluated(*e.source)) return;
        }
        if (!may_grow(n)) return;
        computed& c = know(n);
        c.dequantized = dequantized;
        for (const edge& e : n.operand_edges()) {
            if (is<builtin::constant>(*e.source)) {
                c.from_bytes += bytes_of(*e.source);
            } else if (!is_read(*e.source)) {
                c.from_bytes += known(*e.source).from_bytes;
            }
        }
        c.folded = c.dequantized || evaluate(n);  // dequantized numbers are computed on demand
    }

    // Reads constants and shapes, and computes dequantized numbers, only if a foldable node needs them.
    bool is_evaluated(node& asked) {
        pmr_vector<node*> waiting{&asked};
        while (!waiting.empty()) {
            node& n = *waiting.back();
            if (!is_known(n)) know(n);
            const std::size_t count = waiting.size();
            if (known(n).results.empty() && !is_read(n)) {
                if (!known(n).folded) return false;
                for (const edge& e : n.operand_edges()) {
                    if (!is_known(*e.source) || known(*e.source).results.empty()) waiting.push_back(e.source);
                }
            }
            if (waiting.size() != count) continue;
            waiting.pop_back();
            if (known(n).results.empty() && !evaluate(n)) {
                known(n).folded = false;
                return false;
            }
        }
        return true;
    }
    // Computes a node whose operands have been evaluated.
    bool evaluate(const node& n) {
        pmr_vector<constant_evaluator::tensor_type> operands;
        if (!is_read(n)) {
            for (const edge& e : n.operand_edges())
                operands.push_back(known(*e.source).results[e.slot->result]);
        }
        if (!is_read(n) && !may_work(n)) return false;
        auto evaluated = evaluator_->evaluate(n, operands);
        if (!evaluated) return false;
        for (auto& t : evaluated.value()) known(n).results.push_back(std::move(t));
        return true;
    }
    // Charges the bytes by which results exceed operands; false if that exceeds the budget.
    bool may_grow(const node& n) {
        return charge(growth_left_, bytes_of(n) - std::min(bytes_of(n), operand_bytes_of(n)));
    }
    // Charges the time that the node takes; false if the budget does not allow it.
    bool may_work(const node& n) {
        return charge(
            work_left_, bytes_of(n) + operand_bytes_of(n) + multiply_accumulates(n) / products_per_byte);
    }
    static bool charge(std::uint64_t& budget, std::uint64_t amount) {
        if (amount > budget) return false;
        budget -= amount;
        return true;
    }
    bool is_needed(const node& n) {
        return std::ranges::any_of(n.uses(), [&](const edge& e) {
            return !is_known(*e.target) || !known(*e.target).folded || known(*e.target).kept;
        });
    }
    void store(node& n) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const value old = n.result(i);
            if (!is_used(old)) continue;
            const tensor_meta& meta = *n.results[i].meta;
            const value made = create_constant(graph_, meta, &n,
                [&](std::span<std::byte> data) { evaluator_->store(*known(n).results[i], meta, data); });
            replace(old, made);
        }
    }

    graph& graph_;
    const constant_evaluator* evaluator_;
    bool folds_rescales_;
    pmr_vector<std::uint32_t> places_;  // in known_, by id
    pmr_vector<computed> known_;        // in execution order
    std::uint64_t growth_left_ = max_growth;
    std::uint64_t work_left_ = max_further_work;
};

}  // namespace headrace::detail

#endif
