// SPDX-License-Identifier: MIT
// Defines headrace::op_facts, the facts about a TOSA operator that the rules of targets need. The operator is
// a node of a graph or a row of a contract.
#ifndef HEADRACE_TARGET_OP_FACTS_HPP
#define HEADRACE_TARGET_OP_FACTS_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <headrace/base/sizes.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/op.hpp>
#include <headrace/target/tosa_legality.hpp>

namespace headrace {

/// The attributes of an operator that rules depend on. Attributes that it does not have are empty or zero.
struct op_attributes {
    int_list kernel{};  ///< of a pooling; a convolution's is in its weight
    int_list stride{};
    int_list pad{};  ///< out_pad of TRANSPOSE_CONV2D
    int_list dilation{};
    int_list scale{};   ///< of RESIZE, empty if it is computed
    int_list offset{};  ///< of RESIZE, empty if it is computed
    std::int64_t axis = 0;
    headrace::dtype declared = dtype::unknown;  ///< acc_type, or the type of a VARIABLE
    resize_mode mode = resize_mode::unknown;
    bool round = false;  ///< of ARITHMETIC_RIGHT_SHIFT
    /// Constant zero points of the first operand, of a weight or second matrix, and of the result.
    std::int64_t input_zero = 0, second_zero = 0, output_zero = 0;
    bool input_unsigned = false, output_unsigned = false;  ///< of RESCALE

    /// For convolutions: the largest sum of absolute weights of an output channel, if that can be too large
    /// for a target; whether biases fit in 40 bits; for INT16, whether all users are RESCALEs.
    std::int64_t weight_sum = 0;
    bool bias_fits = true;
    bool only_rescaled = true;
    bool from_convolution = false;  ///< for RESCALE: its input comes from a convolution

    friend constexpr bool operator==(const op_attributes&, const op_attributes&) = default;
};

/// An operator of the tosa dialect, its tensors and its attributes.
struct op_facts {
    /// The maximum number of operands, and of results, that rules read: a list within level 8K, and the
    /// operand before it.
    static constexpr std::size_t max_tensors = tosa::level_8k::max_tensor_list + 1;

    const op_info* op = nullptr;
    std::array<const tensor_meta*, 2 * max_tensors> tensors{};  ///< operands, then results
    std::size_t operand_count = 0;                              ///< of those in `tensors`
    std::size_t result_count = 0;
    std::size_t list_length = 0;  ///< full length of the operand that is a list
    std::uint64_t constants = 0;  ///< bit i: operand i is a constant
    op_attributes attributes{};

    [[nodiscard]] constexpr const tensor_meta& operand(std::size_t i) const { return *tensors[i]; }
    [[nodiscard]] constexpr const tensor_meta& result(std::size_t i) const {
        return *tensors[operand_count + i];
    }
    [[nodiscard]] constexpr bool is_constant(std::size_t i) const {
        return i < 64 && (constants >> i & 1) != 0;
    }
    template <op_tag... Ops>
    [[nodiscard]] constexpr bool is() const {
        return ((op == &info_of<Ops>) || ...);
    }
};

/// True for convolutions, which have a weight, a bias, and sums of products.
[[nodiscard]] constexpr bool is_convolution(const op_info& op) { return op.has(trait::convolving); }

}  // namespace headrace

#endif
