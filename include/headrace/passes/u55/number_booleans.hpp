// SPDX-License-Identifier: MIT
// Defines headrace::number_booleans.
#ifndef HEADRACE_PASSES_U55_NUMBER_BOOLEANS_HPP
#define HEADRACE_PASSES_U55_NUMBER_BOOLEANS_HPP

#include <array>
#include <bit>
#include <functional>
#include <memory_resource>
#include <optional>
#include <unordered_map>
#include <vector>

#include <headrace/pass/driver.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/u55/for_u55.hpp>
#include <headrace/passes/u55/intervals.hpp>

namespace headrace {

/// Booleans as numbers, of which Ethos-U55 has none else: 0 and 1 in INT8, as their bytes are, where they
/// are stored, given and taken, and in INT32 where they are computed. Comparisons, choices and logic become
/// arithmetic, which is exact for all INT32; where no difference can wrap around it is cheaper, and a
/// comparison of 8-bit codes with a number is a TABLE.
struct number_booleans : pass, for_u55 {
    static constexpr std::string_view summary = "booleans as the numbers 0 and 1, and logic as arithmetic";
    using produces =
        joined<build::reshape_ops,
               ops<tosa::cast, tosa::rescale, tosa::table, tosa::add, tosa::sub, tosa::mul, tosa::abs,
                   tosa::clz, tosa::maximum, tosa::minimum, tosa::arithmetic_right_shift,
                   tosa::logical_left_shift, tosa::reduce_max, tosa::reduce_min>>;

    result<std::size_t> operator()(graph& g, pass_context& context) const { return run(g, context).count(); }

private:
    using emit_type = emit<produces>;

    /// What stands for a boolean: either, the other is made when it is asked for.
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
            for (std::size_t i = replaced_.size(); i-- != 0;) {
                if (replaced_[i]->owner != nullptr && replaced_[i]->first_use == nullptr)
                    headrace::detail::erase_dead(g_, *replaced_[i]);
            }
            return count_;
        }

    private:
        void visit(node& n) {
            emit_type e(g_, &n, &n, context_);
            if (stores(n)) {
                retype(n, e);
            } else if (is<builtin::output>(n)) {
                take_numbers(n, e);
            } else {
                lower_any(n, e,
                          ops<tosa::equal, tosa::greater, tosa::greater_equal, tosa::logical_and,
                              tosa::logical_or, tosa::logical_xor, tosa::logical_not, tosa::reduce_any,
                              tosa::reduce_all, tosa::select, tosa::cast>{});
            }
        }
        template <class... Ops>
        void lower_any(node& n, emit_type& e, ops<Ops...>) {
            static_cast<void>(((is<Ops>(n) && (lower(n, e, args_of<Ops>(n)), true)) || ...));
        }

        void lower(node& n, emit_type& e, const args<tosa::equal>& a) {
            compare<&run::equal>(n, e, a.input1, a.input2, std::equal_to<>());
        }
        void lower(node& n, emit_type& e, const args<tosa::greater>& a) {
            compare<&run::greater>(n, e, a.input1, a.input2, std::greater<>());
        }
        void lower(node& n, emit_type& e, const args<tosa::greater_equal>& a) {
            compare<&run::greater_equal>(n, e, a.input1, a.input2, std::greater_equal<>());
        }
        void lower(node& n, emit_type& e, const args<tosa::logical_and>& a) {
            becomes(n, {{}, both(e, a.input1, a.input2)});
        }
        void lower(node& n, emit_type& e, const args<tosa::logical_or>& a) {
            becomes(n, {{}, e.make<tosa::maximum>(wide(e, a.input1), wide(e, a.input2))});
        }
        void lower(node& n, emit_type& e, const args<tosa::logical_xor>& a) {
            const value difference = e.make<tosa::sub>(wide(e, a.input1), wide(e, a.input2));
            becomes(n, {{}, e.make<tosa::abs>(difference)});
        }
        void lower(node& n, emit_type& e, const args<tosa::logical_not>& a) {
            becomes(n, {{}, inverse(e, wide(e, a.input1))});
        }
        void lower(node& n, emit_type& e, const args<tosa::reduce_any>& a) {
            becomes(n, {e.make<tosa::reduce_max>({.input = narrow(e, a.input), .axis = a.axis}), {}});
        }
        void lower(node& n, emit_type& e, const args<tosa::reduce_all>& a) {
            becomes(n, {e.make<tosa::reduce_min>({.input = narrow(e, a.input), .axis = a.axis}), {}});
        }

        // --- values ------------------------------------------------------------------------

        static dtype type_of(value v) { return meta_of(v)->dtype; }
        static bool is_any_boolean(const node& n) {
            return std::any_of(n.results, n.results + n.result_count,
                               [](const result_slot& r) { return r.meta && is_boolean(r.meta->dtype); });
        }
        [[nodiscard]] number* known(value v) {
            const auto found = numbers_.find(v.producer);
            return v.result == 0 && found != numbers_.end() ? &found->second : nullptr;
        }
        // A node whose operands are no numbers stays: the model is refused for what made them.
        void becomes(node& n, const number& truth) {
            if (!truth.narrow && !truth.wide) return;
            numbers_[&n] = truth;
            replaced_.push_back(&n);
            ++count_;
        }
        // Of another type than boolean.
        void replace(node& n, value v) {
            if (!v) return;
            headrace::detail::hand_over_name(n.results[0], v);
            g_.replace_all_uses(n.result(), v);
            replaced_.push_back(&n);
            ++count_;
        }

        // What only holds booleans holds numbers as well.
        static bool stores(const node& n) {
            static constexpr auto layout =
                set_of<ops<tosa::reshape, tosa::transpose, tosa::slice, tosa::concat, tosa::tile, tosa::pad,
                           tosa::reverse, tosa::identity>>;
            return is_any_boolean(n) && (is<builtin::placeholder>(n) || is<builtin::constant>(n) ||
                                         is<tosa::const_>(n) || layout.contains(*n.op));
        }
        void retype(node& n, emit_type& e) {
            take_numbers(n, e);
            tensor_meta meta = *n.results[0].meta;
            meta.dtype = dtype::int8;
            g_.set_meta(n.result(), meta);
            numbers_[&n] = {n.result(), {}};
            ++count_;
        }
        void take_numbers(node& n, emit_type& e) {
            for (edge& operand : std::span(n.operands, n.operand_count)) {
                if (known(*operand.slot) != nullptr) g_.set_operand(operand, narrow(e, *operand.slot));
            }
        }

        value narrow(emit_type& e, value v) {
            number* truth = known(v);
            if (truth == nullptr) return v;
            if (!truth->narrow) {
                truth->narrow = as_int(e, truth->wide, dtype::int8);
                headrace::detail::hand_over_name(v.producer->results[0], truth->narrow);
            }
            return truth->narrow;
        }
        value wide(emit_type& e, value v) {
            number* truth = known(v);
            if (truth == nullptr) return {};
            if (!truth->wide) truth->wide = widened(e, truth->narrow);
            return truth->wide;
        }
        // As INT32.
        static value widened(emit_type& e, value v) {
            if (type_of(v) == dtype::int32) return v;
            if (const auto numbers = constant_integers(v)) return constant(e, e.shape(v), *numbers);
            return e.make<tosa::cast>({.input = v, .output_type = dtype::int32});
        }
        // INT32 that has room in the type.
        static value as_int(emit_type& e, value v, dtype type) {
            if (type == dtype::int32) return v;
            constexpr int shift = 30;
            return e.make<tosa::rescale>({.input = v,
                                          .multiplier = e.splat(1 << shift, dtype::int32, 1),
                                          .shift = e.splat(shift, dtype::int8, 1),
                                          .input_zp = e.splat(0, dtype::int32, 1),
                                          .output_zp = e.splat(0, type, 1)});
        }
        static value constant(emit_type& e, const int_list& shape,
                              const std::pmr::vector<std::int64_t>& numbers) {
            const std::pmr::vector<std::int32_t> elements(numbers.begin(), numbers.end());
            return e.constant<std::int32_t>(dtype::int32, shape, elements);
        }
        static value splat(emit_type& e, std::int64_t number, value beside) {
            return e.splat(number, dtype::int32, e.rank(beside));
        }
        static value product(emit_type& e, value a, value b) {
            return e.make<tosa::mul>({.input1 = a, .input2 = b, .shift = e.splat(0, dtype::int8, 1)});
        }

        // --- comparisons ---------------------------------------------------------------------

        static bool difference_fits(value a, value b) {
            return interval_of(a).reach() + interval_of(b).reach() <= INT32_MAX;
        }
        static value inverse(emit_type& e, value truth) {
            return e.make<tosa::sub>(splat(e, 1, truth), truth);
        }
        // 1 where the number is above 0.
        static value is_positive(emit_type& e, value v) {
            return e.make<tosa::minimum>(e.make<tosa::maximum>(v, splat(e, 0, v)), splat(e, 1, v));
        }
        static value is_not_zero(emit_type& e, value v) {
            const interval known = interval_of(v);
            if (known.lies_in(0, 1)) return v;
            if (known.least >= 0) return e.make<tosa::minimum>(v, splat(e, 1, v));
            if (known.least > INT32_MIN) return e.make<tosa::minimum>(e.make<tosa::abs>(v), splat(e, 1, v));
            const value used_bits = e.make<tosa::sub>(splat(e, 32, v), e.make<tosa::clz>(v));
            return e.make<tosa::minimum>(used_bits, splat(e, 1, v));
        }
        // A number with the sign of a - b. Where that might wrap around, it is the sign of the difference of
        // the upper halves or, if that is 0, of the lower ones.
        static value difference(emit_type& e, value a, value b) {
            if (difference_fits(a, b)) return e.make<tosa::sub>(a, b);
            const auto [a_high, a_low] = halves(e, a);
            const auto [b_high, b_low] = halves(e, b);
            const value high = e.make<tosa::sub>(a_high, b_high);
            const value sign =
                e.make<tosa::maximum>(e.make<tosa::minimum>(high, splat(e, 1, high)), splat(e, -1, high));
            const value above = e.make<tosa::logical_left_shift>(sign, splat(e, 16, sign));
            return e.make<tosa::add>(above, e.make<tosa::sub>(a_low, b_low));
        }
        // The lower half is not below 0. The shift rounds: half of the divisor is taken off before, where it
        // is there.
        static std::pair<value, value> halves(emit_type& e, value v) {
            constexpr std::int64_t half = 32768;
            const value by = splat(e, 16, v);
            const value least = splat(e, INT32_MIN + half, v);
            const value shifted = e.make<tosa::sub>(e.make<tosa::maximum>(v, least), splat(e, half, v));
            const value high =
                e.make<tosa::arithmetic_right_shift>({.input1 = shifted, .input2 = by, .round = true});
            return {high, e.make<tosa::sub>(v, e.make<tosa::logical_left_shift>(high, by))};
        }
        static value equal(emit_type& e, value a, value b) {
            return inverse(e, is_not_zero(e, difference(e, a, b)));
        }
        static value greater(emit_type& e, value a, value b) { return is_positive(e, difference(e, a, b)); }
        static value greater_equal(emit_type& e, value a, value b) { return inverse(e, greater(e, b, a)); }

        // The form in arithmetic is made where no table is.
        template <auto Form, class Compare>
        void compare(node& n, emit_type& e, value a, value b, Compare&& compares) {
            if (is_floating(type_of(a))) return;
            const auto swapped = [&](std::int64_t x, std::int64_t y) { return compares(y, x); };
            value table = table_of(e, a, b, compares);
            if (!table) table = table_of(e, b, a, swapped);
            becomes(n, table ? number{table, {}} : number{{}, Form(e, a, b)});
        }

        // Codes of 8 bits, and what they are as INT32.
        struct codes {
            value v;
            std::int64_t multiplier = 1, shift = 0, zero = 0;

            // As RESCALE rounds (TOSA 1.0, 1.9.4).
            [[nodiscard]] std::int64_t number(std::int64_t code) const {
                const std::int64_t half = shift == 0 ? 0 : std::int64_t{1} << (shift - 1);
                return ((code - zero) * multiplier + half) >> shift;
            }
        };
        static std::optional<codes> codes_of(value v) {
            if (const auto* a = match<tosa::cast>(v)) {
                if (type_of(a->input) == dtype::int8) return codes{a->input};
                return std::nullopt;
            }
            const auto* a = match<tosa::rescale>(v);
            if (a == nullptr || type_of(a->input) != dtype::int8 || a->per_channel || !a->scale32 ||
                a->input_unsigned || a->output_unsigned || a->rounding_mode != rounding_mode::single_round)
                return std::nullopt;
            const auto multiplier = constant_integers(a->multiplier);
            const auto shift = constant_integers(a->shift);
            const auto zero = constant_integers(a->input_zp);
            const auto output_zero = constant_integers(a->output_zp);
            if (!multiplier || !shift || !zero || !output_zero || (*output_zero)[0] != 0) return std::nullopt;
            return codes{a->input, (*multiplier)[0], (*shift)[0], (*zero)[0]};
        }
        template <class Compare>
        static value table_of(emit_type& e, value a, value b, Compare&& compares) {
            const auto operand = codes_of(a);
            const auto with = constant_integers(b);
            if (!operand || !with || with->size() != 1) return {};
            constexpr std::int64_t count = 256;
            std::array<std::int8_t, count> truth{};
            for (std::int64_t i = 0; i != count; ++i) {
                truth[static_cast<std::size_t>(i)] =
                    static_cast<std::int8_t>(compares(operand->number(i - 128), (*with)[0]));
            }
            const value entries = e.constant<std::int8_t>(dtype::int8, sizes(&count, 1), truth);
            return e.make<tosa::table>({.input1 = operand->v, .table = entries});
        }

        // AND is a product, of INT8 where INT32 is not at hand.
        value both(emit_type& e, value a, value b) {
            const auto is_wide = [&](value v) { return known(v) != nullptr && known(v)->wide; };
            return is_wide(a) && is_wide(b) ? product(e, wide(e, a), wide(e, b))
                                            : product(e, narrow(e, a), narrow(e, b));
        }

        // --- choices and casts -----------------------------------------------------------------

        void lower(node& n, emit_type& e, const args<tosa::select>& a) {
            const value condition = wide(e, a.input1);
            if (!condition || is_floating(type_of(a.input2))) return;
            const bool booleans = known(a.input2) != nullptr;
            const value t = booleans ? wide(e, a.input2) : widened(e, a.input2);
            const value f = booleans ? wide(e, a.input3) : widened(e, a.input3);
            const value chosen = blend(e, condition, t, f);
            if (booleans) {
                becomes(n, {{}, chosen});
            } else {
                replace(n, as_int(e, chosen, n.results[0].meta->dtype));
            }
        }
        // f + c·(t - f), or c·t + (1 - c)·f where the difference might wrap around.
        static value blend(emit_type& e, value condition, value t, value f) {
            if (difference_fits(t, f)) {
                const auto on_true = constant_integers(t);
                const auto on_false = constant_integers(f);
                value difference{};
                if (on_true && on_false && e.shape(t) == e.shape(f)) {
                    std::pmr::vector<std::int64_t> numbers(on_true->size());
                    for (std::size_t i = 0; i != numbers.size(); ++i)
                        numbers[i] = (*on_true)[i] - (*on_false)[i];
                    difference = constant(e, e.shape(t), numbers);
                } else {
                    difference = e.make<tosa::sub>(t, f);
                }
                return e.make<tosa::add>(product(e, condition, difference), f);
            }
            return e.make<tosa::add>(product(e, condition, t), product(e, inverse(e, condition), f));
        }

        void lower(node& n, emit_type& e, const args<tosa::cast>& a) {
            if (number* truth = known(a.input)) {
                switch (a.output_type) {
                    case dtype::boolean:
                        return becomes(n, *truth);
                    case dtype::int8:
                        return replace(n, narrow(e, a.input));
                    case dtype::int32:
                        return replace(n, wide(e, a.input));
                    default:
                        g_.set_operand(n.operands[0], narrow(e, a.input));
                        return;
                }
            }
            if (!is_boolean(a.output_type) || is_floating(type_of(a.input))) return;
            if (type_of(a.input) == dtype::int8) {
                constexpr std::int64_t count = 256;
                std::array<std::int8_t, count> truth{};
                truth.fill(1);
                truth[128] = 0;
                const value entries = e.constant<std::int8_t>(dtype::int8, sizes(&count, 1), truth);
                return becomes(n, {e.make<tosa::table>({.input1 = a.input, .table = entries}), {}});
            }
            becomes(n, {{}, is_not_zero(e, widened(e, a.input))});
        }

        graph& g_;
        pass_context& context_;
        std::pmr::unordered_map<const node*, number> numbers_;
        std::pmr::vector<node*> replaced_;
        std::size_t count_ = 0;
    };
};

}  // namespace headrace

#endif
