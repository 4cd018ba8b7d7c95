// SPDX-License-Identifier: MIT
// Defines headrace::describe, which returns a static pipeline as data for people, reports and pictures.
#ifndef HEADRACE_PASS_DESCRIPTION_HPP
#define HEADRACE_PASS_DESCRIPTION_HPP

#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/pipeline.hpp>

namespace headrace {

/// The facts about one pass of a pipeline.
struct pass_description {
    std::string_view name;
    std::string_view summary;  ///< one line about its effect, or empty
    pmr_vector<std::string_view> targets;
    pmr_vector<std::string_view> removes;
    pmr_vector<std::string_view> produces;
    bool whole_graph = false;
    bool can_fire = false;                ///< false: pruned from the generated code
    pmr_vector<std::string_view> before;  ///< the ops that may be in the graph before it
};

struct pipeline_description {
    pmr_vector<pass_description> passes;
    pmr_vector<std::string_view> source;
    pmr_vector<std::string_view> supported;
    pmr_vector<std::string_view> result;
};

namespace detail {

template <class Set>
pmr_vector<std::string_view> names_in(const Set& set) {
    pmr_vector<std::string_view> names;
    set.for_each([&](std::string_view name) { names.push_back(name); });
    return names;
}

template <class Pipeline, class... Passes>
pipeline_description describe_passes(pass_list<Passes...>) {
    pipeline_description d;
    std::size_t i = 0;
    const auto add = [&]<class P>() {
        using effects = effects_of<P>;
        d.passes.push_back({pass_name<P>(), pass_summary<P>(), names_in(effects::target_set),
            names_in(effects::removed_set), names_in(effects::produced_set), graph_pass<P>,
            Pipeline::can_fire(i), names_in(Pipeline::ops_before(i))});
        ++i;
    };
    (add.template operator()<Passes>(), ...);
    d.source = names_in(Pipeline::ops_before(0));
    d.supported = names_in(Pipeline::supported);
    d.result = names_in(Pipeline::ops_after());
    return d;
}

}  // namespace detail

template <class Pipeline>
[[nodiscard]] pipeline_description describe() {
    return detail::describe_passes<Pipeline>(typename Pipeline::passes{});
}

}  // namespace headrace

#endif
