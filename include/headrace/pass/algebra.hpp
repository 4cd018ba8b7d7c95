// SPDX-License-Identifier: MIT
// Defines the algebra of pipelines: edits whose result is a pipeline that is checked again.
#ifndef HEADRACE_PASS_ALGEBRA_HPP
#define HEADRACE_PASS_ALGEBRA_HPP

#include <boost/mp11/algorithm.hpp>

#include <headrace/pass/pipeline.hpp>

namespace headrace {

/// Diagnosis: an edit names a pass that the pipeline does not have.
template <class Anchor, class Pipeline>
struct not_listed {};
template <class Diagnosis>
inline constexpr bool anchor_found = true;
template <class Anchor, class Pipeline>
inline constexpr bool anchor_found<not_listed<Anchor, Pipeline>> = false;

namespace detail {

template <class... Lists>
struct join_passes {
    using type = boost::mp11::mp_append<pass_list<>, Lists...>;
};

template <class From, class To, class Passes>
struct with_passes;
template <class From, class To, class... Passes>
struct with_passes<From, To, pass_list<Passes...>> {
    using type = pipeline<From, To, Passes...>;
};

// The result of an edit without an anchor: the unchanged pipeline, after one error. It is a separate class,
// so that the error is reported where the result is used, not inside the alias that computes it.
template <class Diagnosis, class Pipeline>
struct unedited : Pipeline {
    static_assert(anchor_found<Diagnosis>,
        "pipeline: an edit names a pass that is not in it; see not_listed<Pass, Pipeline>, name another");
};

// Replaces every occurrence of `Anchor` by `Instead`.
template <class Pipeline, class Anchor, class Instead, class Passes = typename Pipeline::passes>
struct edit;
template <class Pipeline, class Anchor, class Instead, class... Passes>
struct edit<Pipeline, Anchor, Instead, pass_list<Passes...>> {
    static auto pick() {
        if constexpr ((__is_same(Anchor, Passes) || ...)) {
            using edited = typename join_passes<
                std::conditional_t<__is_same(Anchor, Passes), Instead, pass_list<Passes>>...>::type;
            return with_passes<typename Pipeline::source, typename Pipeline::legal, edited>{};
        } else {
            return std::type_identity<unedited<not_listed<Anchor, Pipeline>, Pipeline>>{};
        }
    }
    using type = typename decltype(pick())::type;
};

}  // namespace detail

/// A pipeline of several concatenated pass_list<...>s.
template <class From, class To, class... Lists>
using pipeline_of =
    typename detail::with_passes<From, To, typename detail::join_passes<Lists...>::type>::type;

/// A, then B. The ops that may leave A must be ops that may enter B; the proof of the result checks this.
template <class A, class B>
using concatenate = typename detail::with_passes<typename A::source, typename B::legal,
    typename detail::join_passes<typename A::passes, typename B::passes>::type>::type;

template <class Pipeline, class Anchor, class... New>
using insert_before = typename detail::edit<Pipeline, Anchor, pass_list<New..., Anchor>>::type;

template <class Pipeline, class Anchor, class... New>
using insert_after = typename detail::edit<Pipeline, Anchor, pass_list<Anchor, New...>>::type;

template <class Pipeline, class Pass>
using remove_pass = typename detail::edit<Pipeline, Pass, pass_list<>>::type;

template <class Pipeline, class Pass, class... New>
using replace_pass = typename detail::edit<Pipeline, Pass, pass_list<New...>>::type;

/// The same passes for fewer source ops; passes that can no longer fire are pruned.
template <class Pipeline, class... Items>
using restrict_to =
    typename detail::with_passes<from<Items...>, typename Pipeline::legal, typename Pipeline::passes>::type;

}  // namespace headrace

#endif
