// SPDX-License-Identifier: MIT
// Defines headrace::number_booleans.
#ifndef HEADRACE_PASSES_U55_NUMBER_BOOLEANS_HPP
#define HEADRACE_PASSES_U55_NUMBER_BOOLEANS_HPP

#include <algorithm>
#include <functional>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/u55/comparing.hpp>

namespace headrace {

struct expand_bits;

/// Replaces booleans, which Ethos-U55 does not have, by 0 and 1: as INT8, like their bytes, where they are
/// stored and at inputs and outputs, and as INT32 where they are computed. Comparisons, choices and logic
/// become arithmetic that is exact for all of INT32, and cheaper if a difference cannot wrap around. A
/// comparison of INT8 with a number is a TABLE.
struct number_booleans : for_u55 {
    using runs_before = pass_list<expand_bits>;
    static constexpr std::string_view summary =
        "represents booleans as 0 and 1, and lowers comparisons and choices to arithmetic";

    using produces = joined<u55::compare_ops,
        ops<tosa::cast, tosa::rescale, tosa::table, tosa::mul, tosa::reduce_max, tosa::reduce_min>>;

    result<std::size_t> operator()(graph& g, pass_context& context) const { return run(g, context).count(); }

private:
    using emitting = emit<produces>;

    /// The numbers that represent a boolean: one of them exists, the other is made on demand.
    struct number {
        value narrow{};  ///< INT8
        value wide{};    ///< INT32
    };

    class run {
    public:
        run(graph& g, pass_context& context) : g_(g), context_(context) {}

        std::size_t count() {
            for (node *n = g_.first(), *next = nullptr; n != nullptr; n = next) {
                next = n->next;
                visit(*n);
            }
            for (const auto& [cast, number] : numbered_casts_) replace(*cast, number);
            for (std::size_t i = replaced_.size(); i-- != 0;) erase_dead(g_, *replaced_[i]);
            return count_;
        }

    private:
        void visit(node& n) {
            emission made(g_, &n, &n, context_);
            emitting e(made);
            const std::size_t before = count_;
            if (is<builtin::output>(n)) return take_numbers(n, e);
            if (!has_numbers(n)) return restore_booleans(n, e);
            if (stores(n)) return retype(n, e);
            visit_args(numbered{}, n, [&](auto, const auto& a) { becomes(n, lower(e, a)); });
            if (const auto* a = args_if<tosa::select>(n)) lower_choice(n, e, *a);
            if (const auto* a = args_if<tosa::cast>(n)) lower_cast(n, e, *a);
            if (count_ == before) restore_booleans(n, e);
        }

        using numbered = ops<tosa::equal, tosa::greater, tosa::greater_equal, tosa::logical_and,
            tosa::logical_or, tosa::logical_xor, tosa::logical_not, tosa::reduce_any, tosa::reduce_all>;
        number lower(emitting& e, const args<tosa::equal>& a) {
            return compare<&u55::equal>(e, a.input1, a.input2, std::equal_to<>());
        }
        number lower(emitting& e, const args<tosa::greater>& a) {
            return compare<&u55::greater>(e, a.input1, a.input2, std::greater<>());
        }
        number lower(emitting& e, const args<tosa::greater_equal>& a) {
            return compare<&u55::greater_equal>(e, a.input1, a.input2, std::greater_equal<>());
        }
        number lower(emitting& e, const args<tosa::logical_and>& a) {
            return {{}, both(e, a.input1, a.input2)};
        }
        number lower(emitting& e, const args<tosa::logical_or>& a) {
            return {{}, e.make<tosa::maximum>(wide(e, a.input1), wide(e, a.input2))};
        }
        number lower(emitting& e, const args<tosa::logical_xor>& a) {
            return {{}, e.make<tosa::abs>(e.make<tosa::sub>(wide(e, a.input1), wide(e, a.input2)))};
        }
        number lower(emitting& e, const args<tosa::logical_not>& a) {
            return {{}, u55::inverse(e, wide(e, a.input1))};
        }
        number lower(emitting& e, const args<tosa::reduce_any>& a) {
            return {e.make<tosa::reduce_max>(narrow(e, a.input), a.axis), {}};
        }
        number lower(emitting& e, const args<tosa::reduce_all>& a) {
            return {e.make<tosa::reduce_min>(narrow(e, a.input), a.axis), {}};
        }

        static bool is_any_boolean(const node& n) {
            return std::any_of(n.results, n.results + n.result_count,
                [](const result_slot& r) { return r.meta && is_boolean(r.meta->dtype); });
        }
        [[nodiscard]] number* known(value v) {
            const auto found = numbers_.find(v.producer);
            return v.result == 0 && found != numbers_.end() ? &found->second : nullptr;
        }
        // True if each boolean among a node's operands is represented by a number. Comparisons of floats have
        // none, nor do values computed from them: these nodes are kept, and the model is refused because of
        // the comparison.
        bool has_numbers(const node& n) {
            return std::ranges::none_of(n.operand_edges(), [&](const edge& operand) {
                const tensor_meta* meta = meta_of(*operand.slot);
                return known(*operand.slot) == nullptr && meta != nullptr && is_boolean(meta->dtype);
            });
        }
        // Converts operands back to booleans for a node that is kept.
        void restore_booleans(node& n, emitting& e) {
            for (edge& operand : std::span(n.operands, n.operand_count)) {
                if (known(*operand.slot) == nullptr) continue;
                const value truth =
                    e.make<tosa::cast>({.input = narrow(e, *operand.slot), .output_type = dtype::boolean});
                if (truth) g_.set_operand(operand, truth);
            }
        }
        void becomes(node& n, const number& truth) {
            if (!truth.narrow && !truth.wide) return;
            numbers_[&n] = truth;
            replaced_.push_back(&n);
            ++count_;
        }
        // Replaces a result that is not boolean.
        void replace(node& n, value v) {
            if (!v) return;
            hand_over_name(n.results[0], v);
            g_.replace_all_uses(n.result(), v);
            replaced_.push_back(&n);
            ++count_;
        }

        // True for ops that only hold or move booleans; they do the same with numbers.
        static bool stores(const node& n) {
            const auto moving = trait::reshaping | trait::permuting | trait::slicing | trait::joining |
                trait::repeating | trait::padding | trait::reversing;
            return is_any_boolean(n) &&
                (is<builtin::placeholder>(n) || is<builtin::constant>(n) || is<tosa::const_>(n) ||
                    is<tosa::identity>(n) || (is_of_dialect<tosa::dialect>(n) && n.op->has(moving)));
        }
        void retype(node& n, emitting& e) {
            take_numbers(n, e);
            tensor_meta meta = *n.results[0].meta;
            meta.dtype = dtype::int8;
            g_.set_meta(n.result(), meta);
            numbers_[&n] = {n.result(), {}};
            ++count_;
        }
        void take_numbers(node& n, emitting& e) {
            for (edge& operand : std::span(n.operands, n.operand_count)) {
                if (known(*operand.slot) != nullptr) g_.set_operand(operand, narrow(e, *operand.slot));
            }
        }

        // Returns a known boolean as INT8.
        value narrow(emitting& e, value v) {
            number& truth = *known(v);
            if (!truth.narrow) {
                truth.narrow = build::narrow(e, truth.wide, dtype::int8);
                hand_over_name(v.producer->results[0], truth.narrow);
            }
            return truth.narrow;
        }
        value wide(emitting& e, value v) {
            number& truth = *known(v);
            if (!truth.wide) truth.wide = u55::widen(e, truth.narrow);
            return truth.wide;
        }

        // Compares by a table if one operand is INT8 and the other a number, otherwise by `Arithmetic`.
        template <auto Arithmetic, class Compare>
        number compare(emitting& e, value a, value b, const Compare& compares) {
            if (is_floating(e.dtype(a))) return {};
            const value table = u55::compare_by_table(e, a, b, compares);
            return table ? number{table, {}} : number{{}, Arithmetic(e, a, b)};
        }

        // AND is a product: of INT8, unless both operands are INT32 already.
        value both(emitting& e, value a, value b) {
            const auto is_wide = [&](value v) { return known(v) != nullptr && known(v)->wide; };
            return is_wide(a) && is_wide(b) ? build::multiply(e, wide(e, a), wide(e, b))
                                            : build::multiply(e, narrow(e, a), narrow(e, b));
        }

        void lower_choice(node& n, emitting& e, const args<tosa::select>& a) {
            if (is_floating(e.dtype(a.input2))) return;
            const bool booleans = known(a.input2) != nullptr;
            const auto widened = [&](value v) { return booleans ? wide(e, v) : u55::widen(e, v); };
            const value condition = wide(e, a.input1);
            const value t = widened(a.input2);
            const value chosen = u55::blend(e, condition, t, widened(a.input3));
            if (booleans) return becomes(n, {{}, chosen});
            replace(n, build::narrow(e, chosen, e.result_meta().dtype));
        }
        void lower_cast(node& n, emitting& e, const args<tosa::cast>& a) {
            const number* truth = known(a.input);
            if (truth == nullptr) {
                if (!is_boolean(a.output_type) || is_floating(e.dtype(a.input))) return;
                if (e.dtype(a.input) == dtype::int8)
                    return becomes(n, {u55::table(e, a.input, [](std::int64_t i) { return i != 0; }), {}});
                return becomes(n, {{}, u55::is_not_zero(e, u55::widen(e, a.input))});
            }
            if (a.output_type == dtype::boolean) return becomes(n, *truth);
            if (a.output_type == dtype::int32) return replace(n, wide(e, a.input));
            ++count_;
            if (a.output_type == dtype::int8) {
                numbered_casts_.emplace_back(&n, narrow(e, a.input));
            } else {
                g_.set_operand(n.operands[0], narrow(e, a.input));
            }
        }

        graph& g_;
        pass_context& context_;
        std::pmr::unordered_map<const node*, number> numbers_;
        // Casts of booleans to INT8, and the numbers that replace them after all nodes have been visited:
        // until then, such a number may itself represent a boolean, and readers of the cast do not read a
        // boolean.
        pmr_vector<std::pair<node*, value>> numbered_casts_;
        pmr_vector<node*> replaced_;
        std::size_t count_ = 0;
    };
};
HEADRACE_COMPILED_PASS(number_booleans);

}  // namespace headrace

#endif
