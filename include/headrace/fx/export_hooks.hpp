// SPDX-License-Identifier: MIT
// Defines headrace::detail::export_hooks, which adapts the hooks of an interpreter to the drivers.
#ifndef HEADRACE_FX_EXPORT_HOOKS_HPP
#define HEADRACE_FX_EXPORT_HOOKS_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/fx/export_interpreter.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass_checks.hpp>

namespace headrace {

/// Names a pass whose hook before the traversal has the wrong signature, in the compile error.
template <class Pass>
struct hook_not_called {};

template <class Diagnosis>
inline constexpr bool hooks_are_called = false;
template <>
inline constexpr bool hooks_are_called<no_fault> = true;

namespace detail {

template <class D, class Op>
concept calls_args = requires(D& d, const args<Op>& a, const node_metadata& m) { d.call_operator(a, m); };
template <class D, class Op>
concept calls_tag =
    requires(D& d, const args<Op>& a, const node_metadata& m) { d.call_operator(Op{}, a, m); };
template <class D>
concept calls_any = requires(D& d, const operator_call& c, const node_metadata& m) { d.call_operator(c, m); };
template <class D>
concept hooks_placeholder = requires(D& d, std::string_view n, const tensor_meta& v, const node_metadata& m) {
    { d.placeholder(n, v, m) } -> std::same_as<value>;
};
template <class D>
concept hooks_get_attr =
    requires(D& d, std::string_view n, const tensor_data& t, const tensor_meta& v, const node_metadata& m) {
        { d.get_attr(n, t, v, m) } -> std::same_as<value>;
    };
template <class D>
concept hooks_output = requires(D& d, std::span<const value> v, const node_metadata& m) { d.output(v, m); };
template <class D>
concept hooks_call = requires(D& d, graph& g, pass_context& c) {
    { d.call(g, c) } -> std::same_as<result<void>>;
};
template <class D>
concept names_call = requires { &D::call; };
template <class D>
concept hooks_submodule = requires(D& d, graph& g, const node_metadata& m) { d.submodule(g, m); };

// Detects a member of that name, overloaded or not: the name is then ambiguous in a class that also derives
// from this one.
struct has_call_operator {
    int call_operator;
};
template <class D>
struct call_operator_probe : D, has_call_operator {};
template <class D>
concept names_call_operator = !requires { &call_operator_probe<D>::call_operator; };

/// Adapts the hooks of an interpreter to the drivers' handlers.
template <class D>
struct export_hooks {
    using targets = typename listed_targets<D>::type;

    /// Calls `hook(D&)` with an interpreter that `super()` returns.
    template <class Hook>
    static auto with_super(const void* pass, export_interpreter& e, Hook&& hook) {
        auto& self = *const_cast<D*>(static_cast<const D*>(pass));
        return self.with_super(e, [&] { return hook(self); });
    }
    template <class Returned>
    static outcome_kind give(const export_interpreter& e, const Returned& returned, value_list& with) {
        append_result<identity_policy>(e, with, returned);
        if (e.failed()) return outcome_kind::failed;
        return e.is_unchanged(with) ? outcome_kind::kept : outcome_kind::replaced;
    }

    template <class Op>
    static outcome_kind call(const void* pass, emitter any, value_list& with) {
        export_interpreter e(any);
        const node& n = e.current();
        const node_metadata meta(n);
        return give(e,
            with_super(pass, e,
                [&](D& self) {
                    if constexpr (calls_args<D, Op>) {
                        return self.call_operator(args_of<Op>(n), meta);
                    } else if constexpr (calls_tag<D, Op>) {
                        return self.call_operator(Op{}, args_of<Op>(n), meta);
                    } else if constexpr (calls_any<D>) {
                        return self.call_operator(operator_call(n), meta);
                    } else {
                        return value_list{};  // run() has refused it
                    }
                }),
            with);
    }
    static outcome_kind call_fallback(const void* pass, emitter any, value_list& with) {
        export_interpreter e(any);
        const node& n = e.current();
        return give(e,
            with_super(
                pass, e, [&](D& self) { return self.call_operator(operator_call(n), node_metadata(n)); }),
            with);
    }
    static outcome_kind call_placeholder(const void* pass, emitter any, value_list& with) {
        export_interpreter e(any);
        const node& n = e.current();
        return give(e,
            with_super(pass, e,
                [&](D& self) { return self.placeholder(n.name(), e.result_meta(), node_metadata(n)); }),
            with);
    }
    static outcome_kind call_get_attr(const void* pass, emitter any, value_list& with) {
        export_interpreter e(any);
        const node& n = e.current();
        return give(e,
            with_super(pass, e,
                [&](D& self) {
                    return self.get_attr(
                        n.name(), args_of<builtin::constant>(n).data, e.result_meta(), node_metadata(n));
                }),
            with);
    }
    // A hook that does not call super().output leaves the outputs unchanged.
    static outcome_kind call_output(const void* pass, emitter any, value_list&) {
        export_interpreter e(any);
        const node& n = e.current();
        const list<value> values = args_of<builtin::output>(n).values;
        with_super(pass, e,
            [&](D& self) { self.output(std::span(values.data(), values.size()), node_metadata(n)); });
        if (e.failed()) return outcome_kind::failed;
        return e.has_output() ? outcome_kind::replaced : outcome_kind::kept;
    }
    static result<void> call_submodule(
        const void* pass, retracing_run& run, graph& region, node& holder, pass_context& context) {
        emission made(*holder.owner, &holder, &holder, context);
        export_interpreter e(emitter(made), &run);
        if constexpr (hooks_submodule<D>) {
            with_super(pass, e, [&](D& self) { self.submodule(region, node_metadata(holder)); });
        } else {
            e.submodule(region);
        }
        return std::move(e.status());
    }

    template <class Op>
    static constexpr bool is_called = calls_args<D, Op> || calls_tag<D, Op> || calls_any<D>;

    template <class... Ops>
    static auto find_missing(ops<Ops...>) {
        constexpr bool called[] = {is_called<Ops>..., false};
        constexpr std::size_t at = [&] {
            std::size_t i = 0;
            while (called[i]) ++i;
            return i;
        }();
        if constexpr (at == sizeof...(Ops)) {
            return no_fault{};
        } else {
            return no_handler<D, typename type_at<at, ops<Ops...>>::type>{};
        }
    }
    using missing = decltype(find_missing(targets{}));
    using wrong_call = std::conditional_t<names_call<D> && !hooks_call<D>, hook_not_called<D>, no_fault>;
    using uncalled = std::conditional_t<names_call_operator<D> && targets::size == 0 && !calls_any<D>,
        no_targets<D>, no_fault>;

    template <class... Ops>
    static constexpr auto handlers_for(ops<Ops...>) {
        constexpr std::size_t interface =
            std::size_t{hooks_placeholder<D>} + hooks_get_attr<D> + hooks_output<D>;
        std::array<handler, sizeof...(Ops) + interface> all{{{&info_of<Ops>, &call<Ops>}...}};
        [[maybe_unused]] std::size_t next = sizeof...(Ops);
        if constexpr (hooks_placeholder<D>) all[next++] = {&info_of<builtin::placeholder>, &call_placeholder};
        if constexpr (hooks_get_attr<D>) all[next++] = {&info_of<builtin::constant>, &call_get_attr};
        if constexpr (hooks_output<D>) all[next++] = {&info_of<builtin::output>, &call_output};
        return all;
    }
    static constexpr auto fallback_or_none() {
        if constexpr (calls_any<D> && targets::size == 0) {
            return handler{nullptr, &call_fallback};
        } else {
            return handler{};
        }
    }
};

}  // namespace detail

}  // namespace headrace

#endif
