// SPDX-License-Identifier: MIT
// Defines the members of headrace::result_check.

#include <headrace/lowering/result_check.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/partition/extract.hpp>

namespace headrace {

namespace {

/// True if the graph, or one nested in it, has a value of bfloat16.
bool has_brain_floats(const graph& g) {
    for (const node& n : g.nodes()) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (n.results[i].meta && n.results[i].meta->dtype == dtype::bfloat16) return true;
        }
    }
    for (const graph& region : g.regions()) {
        if (has_brain_floats(region)) return true;
    }
    return false;
}

}  // namespace

result<void> result_check::begin(const graph& exported) {
    HEADRACE_TRY(outputs, execute(exported, inputs_, own_));
    expected_ = std::move(outputs);
    exported_ = std::make_unique<graph>();
    copy_graph(exported, *exported_);
    if (has_brain_floats(exported)) tolerance_ = brain_tolerance;
    for (const double step : output_steps(exported)) granted_.push_back(granted_steps * step);
    return {};
}

result<double> result_check::check(std::string_view pass, const graph& g) {
    if (auto sound = verify(g); !sound)
        return invalid(join_text(pass, " breaks the graph: ", sound.error().message));
    HEADRACE_TRY(expect_for_signature(g));
    auto got = execute(g, inputs_for(g, inputs_), own_);
    if (!got) return invalid(join_text("after ", pass, ": ", got.error().message));
    const std::vector<tensor> outputs = outputs_of(g, std::move(got).value());
    steps_ = largest_steps(outputs);
    const double off = largest_difference(expected_, outputs, granted_);
    if (off <= tolerance_) return off;
    std::array<char, 64> digits{};
    std::snprintf(digits.data(), digits.size(), "%.3g, %g", off, tolerance_);
    return invalid(join_text(
        pass, " changes the result: the largest relative difference is ", digits.data(), " is tolerated"));
}

double result_check::largest_steps(std::span<const tensor> outputs) const {
    double largest = 0;
    for (std::size_t i = 0; i != std::min({outputs.size(), expected_.size(), granted_.size()}); ++i) {
        const double step = granted_[i] / granted_steps;
        if (step == 0 || outputs[i].shape() != expected_[i].shape()) continue;
        for (std::int64_t k = 0; k != outputs[i].size(); ++k)
            largest = std::max(largest, std::abs(outputs[i].real(k) - expected_[i].real(k)) / step);
    }
    return largest;
}

result<void> result_check::expect_for_signature(const graph& g) {
    if (!exported_) return {};
    const auto rounded = rounded_inputs(g, inputs_);
    if (!rounded) return {};
    HEADRACE_TRY(outputs, execute(*exported_, *rounded, own_));
    expected_ = std::move(outputs);
    exported_.reset();
    return {};
}

}  // namespace headrace
