// SPDX-License-Identifier: MIT
// Defines the order of passes that are chosen at run time.
#ifndef HEADRACE_FX_PASS_ORDER_HPP
#define HEADRACE_FX_PASS_ORDER_HPP

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/pass/any_pass.hpp>

namespace headrace::detail {

/// Orders passes by their constraints, and otherwise keeps the given order: the next pass is always the first
/// that may run. For example, if b requires a before it, the list "b, c, a" becomes "c, a, b". A requirement
/// may be met by any of several passes, so it is not an edge of a graph: a pass waits until one of its
/// providers has run.
class pass_order {
public:
    using constraint =
        std::pair<std::pmr::string, std::pmr::string>;  ///< every pass of that name before every other

    /// `assumed` are names that count as provided from the beginning to the end.
    pass_order(std::span<const any_pass> passes, std::span<const constraint> constraints,
        std::span<const std::pmr::string> assumed = {})
        : passes_(passes), constraints_(constraints), assumed_(assumed), placed_(passes.size(), false) {}

    [[nodiscard]] result<pmr_vector<std::size_t>> solve() {
        HEADRACE_TRY(check_provided());
        pmr_vector<std::size_t> order;
        while (order.size() != passes_.size()) {
            std::size_t next = 0;
            while (next != passes_.size() && (placed_[next] || blocker_of(next))) ++next;
            if (next == passes_.size()) return cycle();
            placed_[next] = true;
            order.push_back(next);
        }
        return order;
    }

private:
    [[nodiscard]] bool is_assumed(std::string_view wanted) const {
        return std::find(assumed_.begin(), assumed_.end(), wanted) != assumed_.end();
    }
    [[nodiscard]] bool provided(std::string_view wanted, std::size_t except) const {
        if (is_assumed(wanted)) return true;
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            if (i != except && passes_[i].provides(wanted)) return true;
        }
        return false;
    }
    [[nodiscard]] result<void> check_provided() const {
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            const pass_info& info = passes_[i].info();
            for (const auto& names : {info.requires_before, info.requires_after}) {
                for (const std::string_view wanted : names) {
                    if (!provided(wanted, i)) {
                        return invalid({"pass ", passes_[i].name(), " requires ", wanted,
                            ", which no pass in the list ensures"});
                    }
                }
            }
        }
        return {};
    }

    /// Returns a pass that must run before that one and has not been placed yet.
    [[nodiscard]] std::optional<std::size_t> blocker_of(std::size_t i) const {
        for (const std::string_view wanted : passes_[i].info().requires_before) {
            if (const auto missing = missing_provider(wanted, i)) return missing;
        }
        for (std::size_t k = 0; k != passes_.size(); ++k) {
            if (placed_[k] || k == i) continue;
            if (is_last_for(i, k)) return k;
            for (const auto& [first, second] : constraints_) {
                if (passes_[k].name() == first && passes_[i].name() == second) return k;
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::size_t> missing_provider(std::string_view wanted, std::size_t i) const {
        if (is_assumed(wanted)) return std::nullopt;
        std::optional<std::size_t> missing;
        for (std::size_t k = 0; k != passes_.size(); ++k) {
            if (k == i || !passes_[k].provides(wanted)) continue;
            if (placed_[k]) return std::nullopt;
            if (!missing) missing = k;
        }
        return missing;
    }
    /// True if `i` is the only remaining pass that provides a requirement of `k` for later passes.
    [[nodiscard]] bool is_last_for(std::size_t i, std::size_t k) const {
        for (const std::string_view wanted : passes_[k].info().requires_after) {
            if (!passes_[i].provides(wanted) || is_assumed(wanted)) continue;
            bool other = false;
            for (std::size_t j = 0; j != passes_.size(); ++j)
                other = other || (!placed_[j] && j != i && j != k && passes_[j].provides(wanted));
            if (!other) return true;
        }
        return false;
    }

    /// Every remaining pass has a blocker, so following blockers leads to a cycle.
    [[nodiscard]] error cycle() const {
        pmr_vector<std::size_t> path;
        std::size_t at =
            static_cast<std::size_t>(std::find(placed_.begin(), placed_.end(), false) - placed_.begin());
        while (std::find(path.begin(), path.end(), at) == path.end()) {
            path.push_back(at);
            at = *blocker_of(at);
        }
        path.erase(path.begin(), std::find(path.begin(), path.end(), at));
        std::pmr::string text = text_of({"the passes cannot be put in order: ", passes_[at].name()});
        while (!path.empty()) {
            text += text_of({" must run before ", passes_[path.back()].name()});
            if (path.size() != 1) text += ", which";
            path.pop_back();
        }
        return invalid(std::move(text));
    }

    std::span<const any_pass> passes_;
    std::span<const constraint> constraints_;
    std::span<const std::pmr::string> assumed_;
    pmr_vector<bool> placed_;
};

}  // namespace headrace::detail

#endif
