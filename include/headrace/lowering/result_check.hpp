// SPDX-License-Identifier: MIT
// Defines headrace::result_check, which finds the pass that changes what a model computes.
#ifndef HEADRACE_LOWERING_RESULT_CHECK_HPP
#define HEADRACE_LOWERING_RESULT_CHECK_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/signature_tensors.hpp>

namespace headrace {

/// Executes a model before its lowering and after passes, and compares the outputs.
class result_check {
public:
    /// The largest tolerated relative difference: float16 rounds at every op, and passes change the number of
    /// ops.
    static constexpr double tolerance = 1e-3;
    /// The tolerated difference of an output in quantization steps: a value that is rounded the other way has
    /// larger effects deep in a network.
    static constexpr double granted_steps = 16;

    explicit result_check(std::vector<tensor> inputs, const own_operators& own = {})
        : inputs_(std::move(inputs)), own_(own) {}

    /// Executes the exported program, whose outputs are the reference. Checks view the constants of
    /// `exported`.
    [[nodiscard]] result<void> begin(const graph& exported) {
        HEADRACE_TRY(outputs, execute(exported, inputs_, own_));
        expected_ = std::move(outputs);
        exported_ = std::make_unique<graph>();
        copy_graph(exported, *exported_);
        for (const double step : output_steps(exported)) granted_.push_back(granted_steps * step);
        return {};
    }

    /// Executes the graph as the pass has left it. Returns the largest relative difference beyond the granted
    /// quantization steps; an error names the pass.
    [[nodiscard]] result<double> check(std::string_view pass, const graph& g) {
        if (auto sound = verify(g); !sound)
            return invalid(join_text(pass, " breaks the graph: ", sound.error().message));
        HEADRACE_TRY(expect_for_signature(g));
        auto got = execute(g, inputs_for(g, inputs_), own_);
        if (!got) return invalid(join_text("after ", pass, ": ", got.error().message));
        const std::vector<tensor> outputs = outputs_of(g, std::move(got).value());
        steps_ = largest_steps(outputs);
        const double off = largest_difference(expected_, outputs, granted_);
        if (off <= tolerance) return off;
        std::array<char, 64> digits{};
        std::snprintf(digits.data(), digits.size(), "%.3g, %g", off, tolerance);
        return invalid(join_text(pass, " changes the result: the largest relative difference is ",
            digits.data(), " is tolerated"));
    }

    /// Returns the largest distance of an output in the last check, in its quantization steps, from the
    /// exported program's float results.
    [[nodiscard]] double steps() const { return steps_; }

private:
    [[nodiscard]] double largest_steps(std::span<const tensor> outputs) const {
        double largest = 0;
        for (std::size_t i = 0; i != std::min({outputs.size(), expected_.size(), granted_.size()}); ++i) {
            const double step = granted_[i] / granted_steps;
            if (step == 0 || outputs[i].shape() != expected_[i].shape()) continue;
            for (std::int64_t k = 0; k != outputs[i].size(); ++k)
                largest = std::max(largest, std::abs(outputs[i].real(k) - expected_[i].real(k)) / step);
        }
        return largest;
    }

    // Callers that pass integers round first: an input that was quantized in several ways is then quantized
    // in one.
    [[nodiscard]] result<void> expect_for_signature(const graph& g) {
        if (!exported_) return {};
        const auto rounded = rounded_inputs(g, inputs_);
        if (!rounded) return {};
        HEADRACE_TRY(outputs, execute(*exported_, *rounded, own_));
        expected_ = std::move(outputs);
        exported_.reset();
        return {};
    }

    std::vector<tensor> inputs_;
    own_operators own_;
    std::unique_ptr<graph> exported_;  // until the interface is quantized
    std::vector<tensor> expected_;
    std::vector<double> granted_;  // tolerated differences from these
    double steps_ = 0;
};

}  // namespace headrace

#endif
