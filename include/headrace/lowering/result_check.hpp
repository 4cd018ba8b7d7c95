// SPDX-License-Identifier: MIT
// Defines headrace::result_check, which finds the pass that changes what a model computes.
#ifndef HEADRACE_LOWERING_RESULT_CHECK_HPP
#define HEADRACE_LOWERING_RESULT_CHECK_HPP

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/interface_tensors.hpp>

namespace headrace {

/// Executes a model before its lowering and after passes, and compares the outputs.
class result_check {
public:
    /// Largest relative difference that is tolerated: float16 rounds at every op, and passes change how many
    /// ops there are.
    static constexpr double tolerance = 1e-3;
    /// Quantization steps that an output may differ by: one value rounded the other way has larger effects
    /// on its way through a deep network.
    static constexpr double granted_steps = 16;

    explicit result_check(std::vector<tensor> inputs, const own_operators& own = {})
        : inputs_(std::move(inputs)), own_(own) {}

    /// Executes the exported program: what it gives is right.
    [[nodiscard]] result<void> begin(const graph& exported) {
        HEADRACE_TRY(outputs, execute(exported, inputs_, own_));
        expected_ = std::move(outputs);
        for (const double step : output_steps(exported)) granted_.push_back(granted_steps * step);
        return {};
    }

    /// Executes the graph as the pass has left it. Returns the largest relative difference, beyond the
    /// quantization steps that are granted; the error names the pass.
    [[nodiscard]] result<double> check(std::string_view pass, const graph& g) const {
        if (auto sound = verify(g); !sound)
            return invalid(join_text(pass, " breaks the graph: ", sound.error().message));
        auto got = execute(g, inputs_for(g, inputs_), own_);
        if (!got) return invalid(join_text("after ", pass, ": ", got.error().message));
        const double off = largest_difference(expected_, outputs_of(g, std::move(got).value()), granted_);
        if (off <= tolerance) return off;
        std::array<char, 64> digits{};
        std::snprintf(digits.data(), digits.size(), "%.3g, %g", off, tolerance);
        return invalid(join_text(pass, " changes the result: the largest relative difference is ",
                                 digits.data(), " is tolerated"));
    }

private:
    std::vector<tensor> inputs_;
    own_operators own_;
    std::vector<tensor> expected_;
    std::vector<double> granted_;  // differences from these
};

}  // namespace headrace

#endif
