// SPDX-License-Identifier: MIT
// Defines headrace::pte_check, which finds the stage that changes what a .pte file computes.
#ifndef HEADRACE_COMPARE_PTE_CHECK_HPP
#define HEADRACE_COMPARE_PTE_CHECK_HPP

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/lowering/lowering_observer.hpp>
#include <headrace/lowering/pte_delegates.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/lowering/result_check.hpp>

namespace headrace {

/// The findings for one method.
struct checked_method {
    std::vector<verified_pass> passes{};  ///< with the largest relative difference, of a layer or an output
    std::size_t layers = 0;               ///< quantized ones that were compared alone, from equal inputs
    double layer_steps = 0;               ///< the largest difference of one of them, in quantization steps
    double output_steps = 0;     ///< of an output from the exported program's, in its quantization steps
    bool has_kernels = false;    ///< some are executed as CMSIS-NN computes them
    bool has_delegates = false;  ///< these are executed as TOSA
};

/// Executes methods while lower_to_pte lowers them, and compares. Where delegates or integer kernels take the
/// place of floats, each layer is compared alone (compare/layerwise.hpp), since kernels round otherwise and
/// that adds up; what passes change before or after that is compared by the outputs, as result_check does.
class pte_check {
public:
    /// `inputs` are the .npy files of the one method; without any, the inputs are random tensors. States have
    /// the values that one execution leaves: first values are often zeros, which hide errors.
    explicit pte_check(std::size_t methods, std::vector<std::string> inputs = {})
        : methods_(methods), files_(std::move(inputs)) {}

    /// Returns an observer for the lowering, which calls `next` as well. Its errors name the stage and, if
    /// possible, the layer.
    [[nodiscard]] lowering_observer observer(lowering_observer next = {});

    /// Returns the findings, by the order of the methods' names.
    [[nodiscard]] std::vector<checked_method> findings() const;

private:
    struct watched {
        std::unique_ptr<graph> exported{};
        std::vector<tensor> inputs{};
        std::vector<tensor> expected{};
        std::vector<double> steps{};  // of outputs
        delegate_programs programs{};
        std::optional<result_check> passes{};
        checked_method found{};
    };
    [[nodiscard]] result<void> begin(graph& exported);
    [[nodiscard]] result<void> check(std::string_view stage, graph& g);
    [[nodiscard]] result<void> check_layers(std::string_view stage, const graph& g, watched& w) const;

    std::size_t methods_;  // further graphs that begin are those of delegates
    std::vector<std::string> files_;
    std::vector<const graph*> order_;
    std::unordered_map<const graph*, watched> watched_;
};

}  // namespace headrace

#endif
