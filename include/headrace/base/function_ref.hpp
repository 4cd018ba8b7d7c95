// SPDX-License-Identifier: MIT
// Defines headrace::function_ref, a reference to anything that can be called.
#ifndef HEADRACE_BASE_FUNCTION_REF_HPP
#define HEADRACE_BASE_FUNCTION_REF_HPP

#include <type_traits>

namespace headrace {

/// A parameter that refers to a callable, for functions that are not templates; std::function_ref in C++26.
/// The callable must outlive the call.
template <class Signature>
class function_ref;
template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> &&
                    !std::is_function_v<std::remove_reference_t<F>> &&
                    std::is_invocable_r_v<Result, F&, Arguments...>)
    function_ref(F&& f)  // implicit, so that callables convert when passed
        : callable_(const_cast<void*>(static_cast<const void*>(&f))),
          call_([](void* callable, Arguments... arguments) -> Result {
              return (*static_cast<std::remove_reference_t<F>*>(callable))(
                  static_cast<Arguments&&>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const {
        return call_(callable_, static_cast<Arguments&&>(arguments)...);
    }

private:
    void* callable_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace headrace

#endif
