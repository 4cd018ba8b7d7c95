// SPDX-License-Identifier: MIT
// Defines headrace::stage_broadcasts, which copies constants that operators broadcast to the chip.
#ifndef HEADRACE_PASSES_U55_STAGE_BROADCASTS_HPP
#define HEADRACE_PASSES_U55_STAGE_BROADCASTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Copies a constant to the chip, by a pooling of single pixels, where an elementwise operator broadcasts it.
/// Otherwise an Ethos-U55 reads it from flash again for each element of the result. Example: the factors and
/// offsets of a layer norm.
struct stage_broadcasts : for_u55 {
    static constexpr std::string_view summary =
        "copies constants that elementwise ops broadcast to the chip by a MAX_POOL2D";

    static auto rewrites() {
        return rules(on_each<of_two> = code<made>([](emit<made> e, const auto&) { return with_staged(e); }));
    }

private:
    using of_two = ops_where<tosa::dialect, trait::binary>;
    using made = joined<build::reshape_ops, ops<tosa::max_pool2d, tosa::rescale>>;
    static constexpr std::int64_t max_bytes = 4096;     // copies occupy the chip
    static constexpr std::int64_t min_repeats = 4;      // less often read, or for a small result,
    static constexpr std::int64_t min_elements = 4096;  // a constant is not worth a copy

    static std::optional<value> with_staged(emit<made> e) {
        const node& n = e.current();
        for (std::size_t i = 0; i != 2; ++i) {
            const auto copied = staged(e, n.operand(i));
            if (!copied) continue;
            pmr_vector<value> operands;
            for (std::size_t k = 0; k != n.operand_count; ++k)
                operands.push_back(k == i ? *copied : n.operand(k));
            node* const made_of = e.clone(n, operands, [](tensor_meta&) {});
            return made_of == nullptr ? std::nullopt : std::optional(made_of->result());
        }
        return std::nullopt;
    }
    // Returns the operand made of a copy of the constant that it comes from, which a RESCALE widens.
    static std::optional<value> staged(emit<made> e, value operand) {
        const auto* rescale = match<tosa::rescale>(build::without_reshapes(operand));
        if (rescale == nullptr) return std::nullopt;
        const value narrow = build::without_reshapes(rescale->input);
        const std::int64_t count = e.meta(narrow).elements();
        if (!is<builtin::constant>(*narrow.producer) || e.dtype(narrow) != dtype::int8 || count < 2 ||
            count > max_bytes || e.result_meta().elements() < std::max(min_elements, min_repeats * count)) {
            return std::nullopt;
        }
        const shape_builder shape(e.shape(rescale->input));
        const bool is_image = shape.size() < 4 || (shape.size() == 4 && shape[0] == 1);
        const shape_builder image =
            is_image ? build::with_leading_ones(shape, 4) : shape_builder{1, 1, 1, count};
        const value copy = build::copy_by_pooling(e, build::reshape(e, narrow, image));
        args<tosa::rescale> widened = *rescale;
        widened.input = build::reshape(e, copy, shape);
        return build::reshape(e, e.make<tosa::rescale>(widened), e.shape(operand));
    }
};
HEADRACE_COMPILED_PASS(stage_broadcasts);

}  // namespace headrace

#endif
