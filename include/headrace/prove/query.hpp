// SPDX-License-Identifier: MIT
// Defines headrace::prove::query, the interface of the rules of ops, and headrace::prove::find_rule.
#ifndef HEADRACE_PROVE_QUERY_HPP
#define HEADRACE_PROVE_QUERY_HPP

#include <cstddef>
#include <span>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/op/op.hpp>
#include <headrace/prove/claim.hpp>
#include <headrace/prove/spread.hpp>

namespace headrace::prove {

/// The interface of an analysis to its rules.
class knowledge {
public:
    virtual ~knowledge() = default;
    [[nodiscard]] virtual const spread& of(value v) = 0;
    /// Returns the elements of a value that is the same for all inputs, or null.
    [[nodiscard]] virtual const eval::tensor* constant(value v) = 0;
    virtual void claimed(const claim& c) = 0;
};

/// One visit of a node: its operands' intervals, and the answer, the intervals of its results.
class query {
public:
    query(const node& n, knowledge& known);

    [[nodiscard]] const node& of() const { return node_; }
    [[nodiscard]] const spread& operator()(value v) const { return known_.of(v); }
    [[nodiscard]] interval all_of(value v) const { return known_.of(v).all(); }
    [[nodiscard]] const eval::tensor* constant(value v) const { return known_.constant(v); }
    [[nodiscard]] dtype type(std::size_t i = 0) const { return result_meta(i).dtype; }
    [[nodiscard]] const tensor_meta& result_meta(std::size_t i = 0) const { return *node_.results[i].meta; }
    [[nodiscard]] bool is_integral() const { return headrace::is_integral(type()); }

    /// Claims that numbers are in `allowed`, channel by channel.
    void claim_within(claim_kind kind, const spread& computed, const interval& allowed);
    void claim_within(
        claim_kind kind, const interval& computed, const interval& allowed, std::size_t channel);
    /// Sets a result. Numbers outside its type are cut off: they were claimed not to occur.
    void give(const spread& s, std::size_t i = 0);
    [[nodiscard]] std::span<const spread> results() const { return results_; }

private:
    const node& node_;
    knowledge& known_;
    std::vector<spread> results_;  // at first all numbers of the types
};

/// True for constants of either dialect: a lowered graph has those of the export.
[[nodiscard]] inline bool is_constant(const node& n) {
    return is<tosa::const_>(n) || is<builtin::constant>(n);
}

/// Returns the interval of numbers that were rounded to a type of floats once.
[[nodiscard]] interval rounded_to(dtype t, const interval& computed);

struct rule {
    const op_info* op;
    void (*apply)(query& q);
};
template <op_tag Op, auto F>
inline constexpr rule rule_of{&info_of<Op>, [](query& q) { F(q, args_of<Op>(q.of())); }};

[[nodiscard]] std::span<const rule> move_rules();
[[nodiscard]] std::span<const rule> elementwise_rules();
[[nodiscard]] std::span<const rule> conversion_rules();
[[nodiscard]] std::span<const rule> product_rules();

/// Returns the rule of a TOSA op; null if its results are only known to be of their types, as for functions
/// of floats.
[[nodiscard]] const rule* find_rule(const op_info& op);

}  // namespace headrace::prove

#endif
