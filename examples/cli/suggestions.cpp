// SPDX-License-Identifier: MIT
#include "suggestions.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <range/v3/algorithm/max.hpp>
#include <range/v3/iterator/operations.hpp>
#include <range/v3/view/split.hpp>
#include <range/v3/view/transform.hpp>

#include <headrace/base/edit_distance.hpp>

namespace headrace::cli {

namespace {

std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

}  // namespace

std::vector<std::string_view> closest(
    std::string_view word, std::span<const std::string_view> candidates, std::size_t count) {
    constexpr std::size_t max_length =
        100;  // of a misspelt name; the distance takes time proportional to the product of both lengths
    if (word.empty() || word.size() > max_length) return {};
    const std::string wanted = in_lower_case(word);
    // Two swapped letters count as two edits. Ops share their dialect and overload: only one part is misspelt.
    const auto sizes = word | ranges::views::split('.') | ranges::views::transform(ranges::distance);
    const auto longest = static_cast<std::size_t>(ranges::max(sizes));
    const std::size_t max_distance = longest < 4 ? 1 : std::max<std::size_t>(2, longest / 3);
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = headrace::edit_distance(wanted, in_lower_case(candidate));
        if (distance <= max_distance) ranked.emplace_back(distance, candidate);
    }
    std::ranges::stable_sort(ranked, {}, [](const auto& r) { return r.first; });
    std::vector<std::string_view> names;
    for (const auto& [distance, name] : ranked) {
        if (names.size() == count || distance != ranked.front().first) break;
        names.push_back(name);
    }
    return names;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
    const std::vector<std::string_view> near = closest(word, candidates);
    std::string text;
    for (std::size_t i = 0; i != near.size(); ++i) {
        text += i == 0 ? "; did you mean " : i + 1 == near.size() ? " or " : ", ";
        text += near[i];
    }
    return text.empty() ? text : text + '?';
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    const std::vector<std::string_view> views(candidates.begin(), candidates.end());
    return did_you_mean(word, std::span(views));
}

}  // namespace headrace::cli
