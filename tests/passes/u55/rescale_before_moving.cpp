// SPDX-License-Identifier: MIT
// Tests that accumulators are rescaled before they are moved.
#include <catch2/catch.hpp>

#include <headrace/passes/u55/expand_moves.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

constexpr dtype int32 = dtype::int32;

value rescaled(program& p, value v, std::vector<std::int64_t> multipliers, dtype to = dtype::int8) {
    const auto channels = static_cast<std::int64_t>(multipliers.size());
    const std::vector<std::int64_t> shifts(multipliers.size(), 48);
    return p.make<tosa::rescale>({.input = v,
        .multiplier = integer_constant(p, int32, {channels}, multipliers),
        .shift = integer_constant(p, dtype::int8, {channels}, shifts),
        .input_zp = integer_constant(p, int32, {1}, {0}),
        .output_zp = integer_constant(p, to, {1}, {to == int32 ? 0 : 3}),
        .per_channel = channels != 1});
}
value shape_of(program& p, const int_list& sizes) { return p.make<tosa::const_shape>({.values = sizes}); }
const std::vector<std::int64_t> same{1 << 30};
const std::vector<std::int64_t> of_channels{1 << 30, 1'500'000'000, 1'200'000'000};

/// True if the RESCALE is the first user of the input.
bool is_first(const graph& g) {
    for (const node& n : g.nodes_of(info_of<tosa::rescale>)) {
        if (!is<builtin::placeholder>(*n.operand(0).producer)) return false;
    }
    return true;
}
/// Empty if the RESCALE moves before the ops that `move` applies to an input, with the same results.
template <class Move>
std::pmr::string goes_ahead(const Move& move, int_list shape, const std::vector<std::int64_t>& multipliers) {
    const auto build =
        for_u55_target([=](program& p) { return rescaled(p, move(p, p.input(int32, shape)), multipliers); });
    program p;
    if (!is_first(lowered<rescale_before_moving>(p, build))) return "the RESCALE stays behind";
    return compare_runs<rescale_before_moving>(build, random_inputs(build), 0);
}
const std::pmr::string stays = "the RESCALE stays behind";

auto reshape(int_list to) {
    return [=](program& p, value v) { return p.make<tosa::reshape>({v, shape_of(p, to)}); };
}
auto transpose(int_list perms) {
    return [=](program& p, value v) { return p.make<tosa::transpose>({.input1 = v, .perms = perms}); };
}
auto slice(int_list start, int_list size) {
    return [=](program& p, value v) {
        return p.make<tosa::slice>({v, shape_of(p, start), shape_of(p, size)});
    };
}
auto tile(int_list multiples) {
    return [=](program& p, value v) { return p.make<tosa::tile>({v, shape_of(p, multiples)}); };
}
auto join(std::int64_t axis) {
    return [=](program& p, value v) {
        const value parts[] = {v, p.input(int32, meta_of(v)->shape)};
        return p.make<tosa::concat>({.input1 = list<value>(parts), .axis = axis});
    };
}

}  // namespace

TEST_CASE("a RESCALE of all goes ahead of any move") {
    CHECK(goes_ahead(reshape({4, 6}), {2, 3, 4}, same) == "");
    CHECK(goes_ahead(transpose({2, 0, 1}), {2, 3, 4}, same) == "");
    CHECK(goes_ahead(slice({0, 1, 2}, {2, 2, 1}), {2, 3, 4}, same) == "");
    CHECK(goes_ahead(tile({1, 2, 3}), {2, 3, 4}, same) == "");
    CHECK(goes_ahead(join(2), {2, 3, 4}, same) == "");
}

TEST_CASE("several moves in a row") {
    const auto moves = [](program& p, value v) {
        return join(1)(p, transpose({1, 0})(p, reshape({4, 6})(p, v)));
    };
    const auto build = for_u55_target([=](program& p) {
        return rescaled(p, moves(p, p.input(int32, {2, 3, 4})), same);
    });
    CHECK_THAT(build, computes_the_same<rescale_before_moving>().for_inputs(random_inputs(build)).within(0));
    program p;
    CHECK(is_first(lowered<rescale_before_moving>(p, build)));
}

TEST_CASE("a RESCALE of channels goes ahead of what keeps them apart") {
    CHECK(goes_ahead(reshape({6, 3}), {2, 3, 3}, of_channels) == "");
    CHECK(goes_ahead(reshape({6, 3}), {2, 9}, of_channels) == "");
    CHECK(goes_ahead(transpose({1, 0, 2}), {2, 4, 3}, of_channels) == "");
    CHECK(goes_ahead(slice({1, 0}, {2, 3}), {4, 3}, of_channels) == "");
    CHECK(goes_ahead(tile({2, 1}), {4, 3}, of_channels) == "");
    CHECK(goes_ahead(join(0), {4, 3}, of_channels) == "");
}

TEST_CASE("a RESCALE of channels stays behind what mixes them") {
    CHECK(goes_ahead(transpose({0, 2, 1}), {2, 3, 3}, of_channels) == stays);
    CHECK(goes_ahead(reshape({4, 3}), {3, 4}, of_channels) == stays);
    CHECK(goes_ahead(slice({0, 1}, {2, 3}), {2, 6}, of_channels) == stays);
    CHECK(goes_ahead(tile({1, 3}), {4, 1}, of_channels) == stays);
}

TEST_CASE("what is moved for others, too, stays, and so does a RESCALE to as many bits") {
    const auto shared = for_u55_target([](program& p) {
        const value moved = transpose({1, 0})(p, p.input(int32, {2, 3}));
        p.output(moved);
        return rescaled(p, moved, same);
    });
    program p;
    CHECK_FALSE(is_first(lowered<rescale_before_moving>(p, shared)));
    const auto wide = for_u55_target([](program& q) {
        return rescaled(q, transpose({1, 0})(q, q.input(int32, {2, 3})), same, int32);
    });
    program q;
    CHECK_FALSE(is_first(lowered<rescale_before_moving>(q, wide)));
}
