// SPDX-License-Identifier: MIT
// Defines headrace::eval::folding, the evaluator of the pass fold_constants.
#ifndef HEADRACE_EVAL_FOLD_HPP
#define HEADRACE_EVAL_FOLD_HPP

#include <cstring>
#include <span>
#include <vector>

#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/inference.hpp>

namespace headrace::eval {

/// The evaluator in the form that headrace::fold_constants expects: `fold_passes<eval::folding>`.
struct folding {
    using tensor_type = tensor;

    static result<std::vector<tensor>> evaluate(const node& n, std::span<const tensor> operands) {
        result<std::vector<tensor>> results = evaluate_node(n, operands);
        if (!results) return results;
        for (std::size_t i = 0; i != n.result_count; ++i) {
            if (!n.results[i].meta || !results.value()[i].has_meta(*n.results[i].meta)) {
                return invalid(
                    {message_prefix(n), "evaluation gives a different type or shape than the metadata"});
            }
        }
        return results;
    }

    /// Stores elements as TOSA packs them: INT4 in half a byte, INT48 in six bytes.
    static void store(const tensor& t, const tensor_meta& meta, std::span<std::byte> data) {
        const std::span<const std::byte> elements = t.bytes();
        if (data.size() == elements.size()) {
            if (!data.empty()) std::memcpy(data.data(), elements.data(), data.size());
            return;
        }
        const std::size_t width = element_bytes(meta.dtype);
        for (std::size_t i = 0; i * width < elements.size(); ++i) {
            if (meta.dtype == dtype::int48) {
                std::memcpy(&data[i * 6], &elements[i * width], 6);
            } else {
                const std::byte nibble = elements[i * width] & std::byte{15};
                data[i / 2] = i % 2 == 0 ? nibble : data[i / 2] | (nibble << 4);
            }
        }
    }
};

}  // namespace headrace::eval

#endif
