// SPDX-License-Identifier: MIT
// Defines the members of headrace::mask_source_finder.

#include <headrace/quantization/masks/mask_source.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

namespace headrace {

std::optional<mask_source> mask_source_finder::find(value v, bool low) const {
    const std::optional<value> deepest = deepest_source(v);
    if (deepest) {
        if (auto found = judge(*deepest, v, low)) return found;
    }
    const std::optional<value> nearest = nearest_source(v);
    return nearest && nearest != deepest ? judge(*nearest, v, low) : std::nullopt;
}

std::optional<value> mask_source_finder::deepest_source(value v) const {
    std::vector<value> ahead{v};
    std::optional<value> source;
    for (std::size_t i = 0; i != ahead.size(); ++i) {
        if (i == max_nodes) return std::nullopt;
        const node& n = *ahead[i].producer;
        if (!is_computed_by_element(n)) {
            if (source && *source != ahead[i]) return std::nullopt;
            source = ahead[i];
            continue;
        }
        for (const edge& e : n.operand_edges()) {
            if (is_number(*e.slot) || std::ranges::find(ahead, *e.slot) != ahead.end()) continue;
            if (facts_.constant(*e.slot) != nullptr) return std::nullopt;
            ahead.push_back(*e.slot);
        }
    }
    return source && *source != v ? source : std::nullopt;
}

std::optional<value> mask_source_finder::nearest_source(value v) const {
    if (!is_computed_by_element(*v.producer)) return std::nullopt;
    std::optional<value> source;
    for (const edge& e : v.producer->operand_edges()) {
        if (is_number(*e.slot)) continue;
        if (source || facts_.constant(*e.slot) != nullptr) return std::nullopt;
        source = *e.slot;
    }
    return source;
}

mask_source_finder::numbers mask_source_finder::numbers_to_try(value source) const {
    const tensor_meta* meta = meta_of(source);
    if (meta == nullptr || meta->elements() == 0) return {};
    if (is_boolean(meta->dtype)) return {0, 1};
    // A bound between other numbers might not be the one that the model intends.
    const seen_numbers& seen = facts_.seen(source);
    const bool is_real = meta->dtype == dtype::float32;
    if (is_real && !seen.has_many && (seen.is_mask(true) || seen.is_mask(false)))
        return {seen.different.begin(), seen.different.end()};
    const bool is_condition = seen.empty() || seen.is_zero_or_one();
    return is_condition && (is_real || is_integral(meta->dtype)) ? numbers{0, 1} : numbers{};
}

std::optional<mask_source> mask_source_finder::judge(value source, value v, bool low) const {
    mask_source found;
    found.from = source;
    std::optional<float> otherwise;
    for (const double x : numbers_to_try(source)) {
        const std::optional<double> y = computed(source, x, v);
        if (!y || std::isnan(*y)) return std::nullopt;
        if (excludes(*y, low)) {
            found.excluding.add(x);
            continue;
        }
        found.keeping.add(x);
        if (otherwise && *otherwise != static_cast<float>(*y)) return std::nullopt;
        otherwise = static_cast<float>(*y);
    }
    if (found.excluding.empty()) return std::nullopt;
    const bool apart = found.keeping.empty() || found.excluding.highest < found.keeping.lowest ||
        found.keeping.highest < found.excluding.lowest;
    if (!apart) return std::nullopt;
    found.otherwise = otherwise.value_or(0);
    return found;
}

std::optional<double> mask_source_finder::computed(value source, double x, value v) const {
    std::map<const node*, tensor> results;
    const tensor_meta& meta = *meta_of(source);
    tensor given(meta.dtype, {meta.shape.begin(), meta.shape.end()});
    given.assign(numbers(static_cast<std::size_t>(given.size()), x));
    std::vector<const node*> pending{v.producer};
    while (!pending.empty()) {
        const node& n = *pending.back();
        std::vector<tensor> operands;
        bool ready = true;
        for (const edge& e : n.operand_edges()) {
            if (*e.slot == source) {
                operands.push_back(given);
            } else if (const tensor* constant = facts_.constant(*e.slot)) {
                operands.push_back(*constant);
            } else if (const auto at = results.find(e.source); at != results.end()) {
                operands.push_back(at->second);
            } else {
                pending.push_back(e.source);
                ready = false;
            }
        }
        if (!ready) continue;
        auto made = evaluate_node(n, operands);
        if (!made) return std::nullopt;
        results[&n] = made.value()[0];
        pending.pop_back();
    }
    const tensor& y = results.at(v.producer);
    return y.size() == 0 ? std::nullopt : std::optional(y.real(0));
}

}  // namespace headrace
