// SPDX-License-Identifier: MIT
// Defines headrace::pass_registry, which finds passes by name.
#ifndef HEADRACE_PASS_PASS_REGISTRY_HPP
#define HEADRACE_PASS_PASS_REGISTRY_HPP

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/edit_distance.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/pass/any_pass.hpp>

namespace headrace {

/// Passes that can be chosen by name. Names are unique: a pass that a pipeline runs twice is listed once.
class pass_registry {
public:
    pass_registry() = default;
    /// All passes of a list, such as that of a pipeline: `pass_registry(standard_lowering::passes{})`.
    template <pass_type... Ps>
    explicit pass_registry(pass_list<Ps...>) {
        static_assert((detail::can_be_made<Ps> && ...),
            "pass_registry: a pass in the list cannot be default-constructed; add an object");
        const auto make = [this]<class P>() {
            if constexpr (detail::has_no_state<P>) {
                add(any_pass(info_of_pass<P>));
            } else if constexpr (detail::can_be_made<P>) {
                add(P{});
            }
        };
        static_cast<void>(make);
        (make.template operator()<Ps>(), ...);
    }

    /// Returns false if there is already a pass of that name, which stays.
    bool add(any_pass p) {
        if (find(p.name()) != nullptr) return false;
        passes_.push_back(std::move(p));
        return true;
    }
    [[nodiscard]] const any_pass* find(std::string_view name) const {
        for (const any_pass& p : passes_) {
            if (p.name() == name) return &p;
        }
        return nullptr;
    }
    [[nodiscard]] std::span<const any_pass> passes() const { return passes_; }

    /// Returns the names most similar to `name`, best first.
    [[nodiscard]] pmr_vector<std::string_view> closest(std::string_view name, std::size_t count = 3) const;

    /// Returns the passes of a list like "a,b,c". For an unknown name, the error suggests the closest names.
    [[nodiscard]] result<pmr_vector<any_pass>> select(std::string_view names) const {
        pmr_vector<any_pass> chosen;
        while (!names.empty()) {
            const std::string_view name = names.substr(0, names.find(','));
            names.remove_prefix(std::min(names.size(), name.size() + 1));
            if (name.empty()) continue;
            const any_pass* found = find(name);
            if (found == nullptr) return unknown(name);
            chosen.push_back(*found);
        }
        return chosen;
    }

private:
    [[nodiscard]] error unknown(std::string_view name) const {
        std::pmr::string text = text_of({"no pass is called '", name, "'"});
        const char* separator = "; did you mean ";
        for (const std::string_view near : closest(name)) {
            text += separator + std::pmr::string(near);
            separator = ", ";
        }
        return invalid(std::move(text));
    }

    pmr_vector<any_pass> passes_;
};

inline pmr_vector<std::string_view> pass_registry::closest(std::string_view name, std::size_t count) const {
    pmr_vector<std::pair<std::size_t, std::string_view>> ranked;
    const std::size_t most = std::max<std::size_t>(3, name.size() / 2);
    for (const any_pass& p : passes_) {
        const bool part = !name.empty() && p.name().find(name) != std::string_view::npos;
        const std::size_t distance = part ? 0 : edit_distance(name, p.name());
        if (distance <= most) ranked.emplace_back(distance, p.name());
    }
    std::stable_sort(
        ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (ranked.size() > count) ranked.resize(count);
    pmr_vector<std::string_view> names;
    for (const auto& [distance, near] : ranked) names.push_back(near);
    return names;
}

}  // namespace headrace

#endif
