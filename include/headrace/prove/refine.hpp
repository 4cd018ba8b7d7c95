// SPDX-License-Identifier: MIT
// Declares headrace::prove::refine, which bounds a node's numbers case by case.
#ifndef HEADRACE_PROVE_REFINE_HPP
#define HEADRACE_PROVE_REFINE_HPP

#include <optional>
#include <vector>

#include <headrace/ir/node.hpp>
#include <headrace/prove/claim.hpp>
#include <headrace/prove/query.hpp>
#include <headrace/prove/spread.hpp>

namespace headrace::prove {

/// A node's claims and results.
struct refined_node {
    std::vector<claim> claims{};
    spread result{};
};

/// Bounds a node's numbers case by case of the elements that it is a function of, as `i + n * (i < 0)` is
/// of i: intervals alone lose that both operands are of one element. The cases are signs, then halves of
/// those in which a claim fails, a few hundred at most. Nothing if the node is no elementwise function of
/// one or two tensors of integers.
[[nodiscard]] std::optional<refined_node> refine(const node& n, knowledge& known);

}  // namespace headrace::prove

#endif
