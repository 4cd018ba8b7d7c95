// SPDX-License-Identifier: MIT
// Declares headrace::read_measured_times and headrace::timed_layers, for what layers took on a board.
#ifndef HEADRACE_COMPARE_MEASURED_TIMES_HPP
#define HEADRACE_COMPARE_MEASURED_TIMES_HPP

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>

namespace headrace {

/// Times by the names of tensors or layers, in the file's order. A name that occurs twice has the sum.
struct measured_times {
    std::string unit{};  ///< the column's name: "cycles", "us"
    std::vector<std::pair<std::string, double>> layers{};
};

/// Reads comma-separated values. The first row names the columns: one is `layer`, `name`, `node` or `id`, one
/// `cycles`, `instructions`, `us`, `microseconds`, `ms` or `ns`; others are ignored. An error names the line.
[[nodiscard]] result<measured_times> read_measured_times(std::string_view csv);

/// Predictions by name, and what they count: "instructions on cortex-m4".
struct predicted_times {
    std::string of{};
    std::string unit{};
    std::map<std::string, double, std::less<>> layers{};
};

struct timed_layer {
    std::string name{};
    double measured = 0;
    std::optional<double> predicted{};  ///< in the unit of the prediction
    /// The measured time in relation to the predicted one, times `scale`.
    [[nodiscard]] std::optional<double> ratio(double scale) const {
        if (!predicted || *predicted == 0) return std::nullopt;
        return measured / (*predicted * scale);
    }
};

struct timed_layers {
    /// Those whose time differs most from the prediction come first; those without a prediction last.
    std::vector<timed_layer> layers{};
    /// The measured units for one predicted: 1 where both count cycles or instructions, else the measured
    /// total of the layers with a prediction in relation to the predicted one.
    double scale = 1;
};
[[nodiscard]] timed_layers pair_times(const measured_times& measured, const predicted_times& predicted);

/// Returns a JSON object for the page: unit, total and times by name.
[[nodiscard]] std::string measured_json(const measured_times& measured);

}  // namespace headrace

#endif
