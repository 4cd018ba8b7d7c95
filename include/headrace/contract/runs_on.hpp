// SPDX-License-Identifier: MIT
// Defines headrace::runs_on: do the versions of a project's tools execute a model?
#ifndef HEADRACE_CONTRACT_RUNS_ON_HPP
#define HEADRACE_CONTRACT_RUNS_ON_HPP

#include <headrace/contract/fits.hpp>
#include <headrace/contract/tool_versions.hpp>

namespace headrace {

/// The value of `runs_on` when the check fails.
template <class Model, class Diagnosis>
struct model_does_not_run_on {};

/// The parts of its diagnosis.
template <unsigned Major, unsigned Minor>
struct from_version {};
template <unsigned Major, unsigned Minor>
struct to_version {};
template <class Tool, class From, class To>
struct outside_of_versions {};  ///< those that were tested
template <class Tool>
struct takes_no_floats {};
struct contract_has_no_needs {};  ///< an older `headrace contract` wrote it, or `--exported-only`

namespace detail {

// Which of a contract's ranges a tool belongs to; Vela's is missing for models with floats.
template <class Needs, unsigned Major, unsigned Minor>
constexpr const version_range& range_of(tool::executorch<Major, Minor>) {
    return Needs::executorch;
}
template <class Needs, unsigned Major, unsigned Minor>
    requires(requires { Needs::vela; })
constexpr const version_range& range_of(tool::vela<Major, Minor>) {
    return Needs::vela;
}
template <class Needs, unsigned Year, unsigned Month>
constexpr const version_range& range_of(tool::tosa_tools<Year, Month>) {
    return Needs::tosa_tools;
}

template <class Model, class Tool>
auto diagnose_tool() {
    if constexpr (requires { Tool::target; }) {
        return held<misfit<Tool, Model>>{};
    } else if constexpr (!requires { typename Model::needs; }) {
        return held<contract_has_no_needs>{};
    } else if constexpr (!requires { range_of<typename Model::needs>(Tool{}); }) {
        return held<takes_no_floats<Tool>>{};
    } else {
        constexpr version_range range = range_of<typename Model::needs>(Tool{});
        if constexpr (range.contains(Tool::version)) {
            return held<no_fault>{};
        } else {
            return held<outside_of_versions<Tool, from_version<range.oldest.major, range.oldest.minor>,
                to_version<range.newest.major, range.newest.minor>>>{};
        }
    }
}

template <class Model>
auto first_tool_fault() {
    return held<no_fault>{};
}
template <class Model, class Tool, class... Rest>
auto first_tool_fault() {
    using fault = typename decltype(diagnose_tool<Model, Tool>())::type;
    if constexpr (__is_same(fault, no_fault)) {
        return first_tool_fault<Model, Rest...>();
    } else {
        return held<fault>{};
    }
}

}  // namespace detail

/// The diagnosis with which `runs_on` fails, or no_fault: to decide by instead of failing.
template <model_contract Model, class... Tools>
using unfit_tool = typename decltype(detail::first_tool_fault<Model, Tools...>())::type;

namespace detail {

template <class Model, class... Tools>
constexpr auto tools_verdict() {
    return verdict<unfit_tool<Model, Tools...>, model_does_not_run_on<Model, unfit_tool<Model, Tools...>>>();
}

}  // namespace detail

/// True if the files of a model run with these versions of tools, such as tool::executorch<1, 5> and
/// tool::vela<5, 2>, and on NPUs, such as ethos_u55. If not, static_assert fails with one error that names
/// the tool, and the versions of it that were tested.
template <model_contract Model, class... Tools>
inline constexpr auto runs_on = detail::tools_verdict<Model, Tools...>();

}  // namespace headrace

#endif
