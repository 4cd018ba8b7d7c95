// SPDX-License-Identifier: MIT
// Defines the evaluator of headrace/eval/fold.hpp.

#include <headrace/eval/fold.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/inference.hpp>

namespace headrace::eval {

namespace {

using shared_tensor = constant_evaluator::tensor_type;

result<std::vector<shared_tensor>> evaluate_constant(const node& n, std::span<const shared_tensor> operands) {
    std::vector<tensor> given;  // copies share their elements
    for (const shared_tensor& t : operands) given.push_back(*t);
    HEADRACE_TRY(results, evaluate_node(n, given));
    for (std::size_t i = 0; i != n.result_count; ++i) {
        if (!n.results[i].meta || !results[i].has_meta(*n.results[i].meta)) {
            return invalid(
                {message_prefix(n), "evaluation gives a different type or shape than the metadata"});
        }
    }
    std::vector<shared_tensor> shared;
    for (tensor& t : results) shared.push_back(std::make_shared<const tensor>(std::move(t)));
    return shared;
}

void store_packed(const tensor& t, const tensor_meta& meta, std::span<std::byte> data) {
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

}  // namespace

constinit const constant_evaluator folding{&evaluate_constant, &store_packed};

}  // namespace headrace::eval
