// SPDX-License-Identifier: MIT
// Defines headrace::export_pass, the base of passes written as interpreters of the graph.
#ifndef HEADRACE_FX_EXPORT_PASS_HPP
#define HEADRACE_FX_EXPORT_PASS_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <headrace/fx/export_hooks.hpp>
#include <headrace/fx/export_interpreter.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass_base.hpp>
#include <headrace/pass/pass_checks.hpp>

namespace headrace {

/// Base of an interpreter: a pass that visits the graph in execution order and decides what becomes of each
/// node.
///
///     struct replace_add : export_pass<replace_add> {
///         using targets = ops<aten::add_tensor>;
///         value call_operator(const args<aten::add_tensor>& a, const node_metadata& meta) {
///             const value product = super().call_operator<aten::mul_tensor>({a.self, a.other}, meta);
///             return super().call_operator<aten::sub_tensor>({product, a.other}, meta);
///         }
///     };
///     replace_add()(graph, context);
///
/// All hooks are optional; `super()` has the interpreter's own version of each:
///
/// - for each op of `targets`, `value call_operator(const args<Op>& a, const node_metadata& meta)`, or for a
///   family of them a template `value call_operator(Op, const args<Op>& a, const node_metadata& meta)`;
/// - for ops by run time, `value_list call_operator(const operator_call& call, const node_metadata& meta)`;
/// - `value placeholder(std::string_view name, const tensor_meta& val, const node_metadata& meta)`;
/// - `value get_attr(std::string_view name, const tensor_data& data, const tensor_meta& val,
///   const node_metadata& meta)`;
/// - `void output(std::span<const value> values, const node_metadata& meta)`;
/// - `void submodule(graph& region, const node_metadata& meta)`;
/// - `result<void> require(const graph&) const` and `result<void> ensure(const graph&) const`;
/// - `result<void> call(graph& g, pass_context& context)`, which edits the graph before the traversal: nodes
///   that it adds without `val` are dispatched in full;
/// - `bool should_run(const graph&) const` or `bool should_run(const graph&, bool has_targets) const`, see
///   headrace::is_due: if it returns false, the pass is only checked, not run.
///
/// The call_operator for ops known at run time handles the `targets` without another one; in a pass without
/// targets it handles every operator. Nodes that are not targets are copied, unless their `val` is missing or
/// depends on one that a hook changed: those are inferred again by the context's rules. So a pass may change
/// types, including shapes.
///
/// Hooks may change members. A constant pass is copied for the run and does not keep such changes.
template <class Derived>
class export_pass : public pass {
public:
    using checks_itself = void;

    /// Runs the pass without asking should_run.
    result<node_counts> run(graph& g, pass_context& context) const {
        Derived copy(static_cast<const Derived&>(*this));
        return static_cast<export_pass&>(copy).run(g,
            context);  // a pass may have a `run` that calls this one
    }
    // Both overloads repeat the assertions: another call level would add three lines to the error.
    result<node_counts> run(graph& g, pass_context& context) {
        using hooks = detail::export_hooks<Derived>;
        static_assert(handlers_complete<typename hooks::missing>,
            "export_pass: a target has no call_operator; see no_handler<Pass, Op>, add one");
        static_assert(hooks_are_called<typename hooks::uncalled>,
            "export_pass: nothing would call its call_operator; see no_targets<Pass>, list its ops there");
        static_assert(hooks_are_called<typename hooks::wrong_call>,
            "export_pass: its hook `call` has the wrong signature; see hook_not_called<Pass>, "
            "take graph& and pass_context&");
        return interpret(g, context);
    }
    result<std::size_t> operator()(graph& g, pass_context& context) {
        using hooks = detail::export_hooks<Derived>;
        static_assert(handlers_complete<typename hooks::missing>,
            "export_pass: a target has no call_operator; see no_handler<Pass, Op>, add one");
        static_assert(hooks_are_called<typename hooks::uncalled>,
            "export_pass: nothing would call its call_operator; see no_targets<Pass>, list its ops there");
        static_assert(hooks_are_called<typename hooks::wrong_call>,
            "export_pass: its hook `call` has the wrong signature; see hook_not_called<Pass>, "
            "take graph& and pass_context&");
        const auto& self = static_cast<const Derived&>(*this);
        if (!is_due(self, g, context)) return rewritten(detail::run_checks_alone(self, g));
        return rewritten(interpret(g, context));
    }
    result<std::size_t> operator()(graph& g, pass_context& context) const {
        const auto& self = static_cast<const Derived&>(*this);
        if (!is_due(self, g, context)) return rewritten(detail::run_checks_alone(self, g));
        return rewritten(export_pass::run(g, context));
    }

protected:
    /// Returns the interpreter. Only hooks may call it.
    [[nodiscard]] export_interpreter& super() const { return *super_; }

private:
    friend struct detail::export_hooks<Derived>;
    using handler = detail::handler;

    result<node_counts> interpret(graph& g, pass_context& context) {
        using hooks = detail::export_hooks<Derived>;
        static constexpr auto handlers = hooks::handlers_for(typename hooks::targets{});
        static constexpr handler fallback = hooks::fallback_or_none();
        const detail::erased_pass erased{.object = static_cast<Derived*>(this),
            .name = pass_name<Derived>(),
            .handlers = handlers,
            .in_execution_order = true,
            .fallback = fallback.call == nullptr ? nullptr : &fallback,
            .changes_metadata = true,
            .submodule = &hooks::call_submodule};
        return detail::run_checked(static_cast<const Derived&>(*this), g, [&]() -> result<node_counts> {
            if constexpr (detail::hooks_call<Derived>) {
                HEADRACE_TRY(static_cast<Derived*>(this)->call(g, context));
            }
            return detail::run_handlers(erased, g, context, driver_kind::retracing);
        });
    }

    template <class Hook>
    auto with_super(export_interpreter& e, Hook&& hook) {
        struct restore {
            export_pass& self;
            export_interpreter* outer;
            ~restore() { self.super_ = outer; }
        } const at_end{*this, std::exchange(super_, &e)};
        return hook();
    }
    static result<std::size_t> rewritten(const result<node_counts>& counts) {
        if (!counts) return counts.error();
        return counts.value().rewritten;
    }

    export_interpreter* super_ = nullptr;
};

}  // namespace headrace

#endif
