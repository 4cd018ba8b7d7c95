// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/device/device_input.hpp.

#include <headrace/lowering/device/device_input.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>

namespace headrace {

namespace {

class spec_parser {
public:
    explicit spec_parser(std::string_view text) : text_(text) {}

    [[nodiscard]] result<device_input> parse() {
        const std::size_t end = text_.find('=');
        if (end == std::string_view::npos || end == 0) return wrong("NAME= is missing");
        input_.name = text_.substr(0, end);
        input_.spec = text_.substr(end + 1);
        at_ = end + 1;
        HEADRACE_TRY(parse_type());
        while (at_ != text_.size()) {
            HEADRACE_TRY(parse_step());
        }
        return std::move(input_);
    }

private:
    [[nodiscard]] error wrong(std::string_view what) const {
        return malformed(join_text("--input ", printable(text_), ": ", what, " at position ", at_ + 1,
            "; write NAME=DTYPE and steps, such as x=uint8/255-[0.485,0.456,0.406]/[0.229,0.224,0.225] or "
            "x=int16*3.05e-5"));
    }

    [[nodiscard]] result<void> parse_type() {
        constexpr std::array<std::pair<std::string_view, dtype>, 3> types{
            {{"uint8", dtype::uint8}, {"int8", dtype::int8}, {"int16", dtype::int16}}};
        const std::string_view rest = text_.substr(at_);
        const auto* found =
            std::ranges::find_if(types, [&](const auto& t) { return rest.starts_with(t.first); });
        if (found == types.end()) return wrong("there is no uint8, int8 or int16");
        input_.type = found->second;
        at_ += found->first.size();
        return {};
    }

    template <class T>
    [[nodiscard]] result<T> parse_number() {
        T number{};
        const char* const last = text_.data() + text_.size();
        const auto [end, failed] = std::from_chars(text_.data() + at_, last, number);
        if (failed != std::errc{}) return wrong("there is no number");
        if constexpr (std::is_floating_point_v<T>) {
            if (!std::isfinite(number)) return wrong("the number is not finite");
        }
        at_ = static_cast<std::size_t>(end - text_.data());
        return number;
    }

    // A list has brackets or none: "[1,2]", "1,2", "1".
    [[nodiscard]] result<std::vector<double>> parse_numbers() {
        const bool bracketed = at_ != text_.size() && text_[at_] == '[';
        if (bracketed) ++at_;
        std::vector<double> numbers;
        do {
            if (!numbers.empty()) ++at_;
            HEADRACE_TRY(number, parse_number<double>());
            numbers.push_back(number);
        } while (at_ != text_.size() && text_[at_] == ',');
        if (bracketed) {
            if (at_ == text_.size() || text_[at_] != ']') return wrong("a ] is missing");
            ++at_;
        }
        return numbers;
    }

    [[nodiscard]] result<void> parse_step() {
        const std::size_t start = at_;
        const char step = text_[at_++];
        if (step == '@') {
            HEADRACE_TRY(axis, parse_number<std::int64_t>());
            input_.axis = axis;
            if (at_ != text_.size()) return wrong("@AXIS is not the end");
            return {};
        }
        if (std::string_view("*/+-").find(step) == std::string_view::npos) {
            at_ = start;
            return wrong("there is none of * / + - @");
        }
        HEADRACE_TRY(numbers, parse_numbers());
        const std::size_t channels = input_.factors.size();
        if (numbers.size() != 1 && channels != 1 && numbers.size() != channels) {
            at_ = start;
            return wrong("a list of another length than the one before it begins");
        }
        if (step == '/' && std::ranges::find(numbers, 0.0) != numbers.end()) {
            at_ = start;
            return wrong("a division by 0 begins");
        }
        if (numbers.size() > channels) {
            input_.factors.resize(numbers.size(), input_.factors[0]);
            input_.offsets.resize(numbers.size(), input_.offsets[0]);
        }
        for (std::size_t c = 0; c != input_.factors.size(); ++c)
            apply(step, numbers[numbers.size() == 1 ? 0 : c], input_.factors[c], input_.offsets[c]);
        const auto unfit = [](double x) { return std::abs(x) > 1e30; };
        const auto vanishes = [](double x) { return std::abs(x) < 1e-30; };
        if (std::ranges::any_of(input_.factors, unfit) || std::ranges::any_of(input_.offsets, unfit) ||
            std::ranges::any_of(input_.factors, vanishes)) {
            at_ = start;
            return wrong("a step whose result is beyond 1e30, or whose factor is below 1e-30, begins");
        }
        return {};
    }

    static void apply(char step, double number, double& factor, double& offset) {
        switch (step) {
            case '*':
                factor *= number;
                offset *= number;
                break;
            case '/':
                factor /= number;
                offset /= number;
                break;
            case '+':
                offset += number;
                break;
            default:
                offset -= number;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    device_input input_{};
};

}  // namespace

result<device_input> parse_device_input(std::string_view text) { return spec_parser(text).parse(); }

}  // namespace headrace
