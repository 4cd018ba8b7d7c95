// SPDX-License-Identifier: MIT
// Defines headrace::export_pass, the base of passes written as interpreters of the graph.
#ifndef HEADRACE_PASS_EXPORT_PASS_HPP
#define HEADRACE_PASS_EXPORT_PASS_HPP

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass_base.hpp>
#include <headrace/pass/pass_checks.hpp>

namespace headrace {

/// The metadata of the node that a hook handles, other than `val`: its origin, its module stack, and
/// annotations of the exporter or a user. Nodes that a hook creates with it inherit it.
class node_metadata {
public:
    explicit node_metadata(const node& n) : source_(&n) {}

    /// Returns an annotation by its type, such as headrace::module_stack, or null.
    template <class T>
    [[nodiscard]] const T* find() const {
        return source_->find_annotation<T>();
    }
    /// Returns the exported program's name of the node's origin.
    [[nodiscard]] std::string_view origin() const { return origin_name(*source_); }
    /// Returns nn_module_stack as written by the exporter, or an empty string.
    [[nodiscard]] std::string_view stack() const {
        const auto* found = find<module_stack>();
        return found == nullptr ? std::string_view() : found->text;
    }
    [[nodiscard]] const node& source() const { return *source_; }

private:
    const node* source_;
};

/// An operator whose op is known only at run time: the argument of a call_operator for all ops. It has a copy
/// of the arguments, which a hook may change before making a node.
class operator_call {
public:
    explicit operator_call(const node& n) : op_(n.op), source_(&n), arguments_(copy_of(*n.op, n.arguments)) {}

    [[nodiscard]] const op_info& op() const { return *op_; }
    template <op_tag Op>
    [[nodiscard]] bool is() const {
        return op_ == &info_of<Op>;
    }
    /// Returns the arguments if it is of that op, else null.
    template <op_tag Op>
    [[nodiscard]] const args<Op>* args_if() const {
        return is<Op>() ? static_cast<const args<Op>*>(arguments()) : nullptr;
    }
    [[nodiscard]] const void* arguments() const { return arguments_.data(); }

    /// Returns the argument of that name if it is a T, the member's type with its std::optional, else null.
    template <class T>
    [[nodiscard]] const T* find(std::string_view name) const {
        const field_info* f = op_->find(name);
        constexpr field_kind kind = kind_of<typename unwrap_optional<T>::type>;
        if (f == nullptr || f->kind != kind || f->optional != is_optional<T>) return nullptr;
        return reinterpret_cast<const T*>(arguments_.data() + f->offset);
    }
    /// Sets an argument; returns false if the op has no argument of that name and type.
    template <class T>
    bool set(std::string_view name, const T& to) {
        const T* at = find<T>(name);
        if (at == nullptr) return false;
        *const_cast<T*>(at) = to;
        changed_ = true;
        return true;
    }
    /// Changes the op: arguments of the same name and type are kept, others get the new op's defaults.
    void set_op(const op_info& op) {
        bytes to = copy_of(op, op.default_args);
        for (const field_info& f : op) {
            const field_info* known = op_->find(f.name);
            if (known == nullptr || known->kind != f.kind || known->optional != f.optional ||
                known->custom != f.custom)
                continue;
            headrace::detail::visit_field(f, to.data(), [&]<class T>(const T& member) {
                const auto* from = reinterpret_cast<const std::byte*>(arguments_.data()) + known->offset;
                if constexpr (std::is_same_v<T, custom_member>) {
                    std::memcpy(member.at, from, f.custom->size);
                } else {
                    const_cast<T&>(member) = *reinterpret_cast<const T*>(from);
                }
            });
        }
        op_ = &op;
        arguments_ = std::move(to);
        changed_ = true;
    }

    [[nodiscard]] bool changed() const { return changed_; }
    [[nodiscard]] const node& source() const { return *source_; }

private:
    using bytes = pmr_vector<std::byte>;  // aligned for any args by operator new

    static bytes copy_of(const op_info& op, const void* from) {
        const auto* const first = static_cast<const std::byte*>(from);
        return {first, first + op.args_size};
    }

    const op_info* op_;
    const node* source_;
    bytes arguments_;
    bool changed_ = false;
};

/// The return type of `super()` in hooks of an export_pass: the interpreter's default behaviour, which
/// creates a node and returns its value. It is also an emitter: `splat` and `constant` create tensors,
/// `unsupported` refuses the node.
class export_interpreter : public emitter {
public:
    explicit export_interpreter(emitter e, detail::retracing_run* run = nullptr) : emitter(e), run_(run) {}

    /// Creates a node of that op with inferred `val` and the metadata `meta`; if the arguments are those of
    /// the visited node, it is a copy of that node. Returns a value for ops with one result, else a
    /// value_list.
    template <op_tag Op>
    auto call_operator(const args<Op>& a, const node_metadata& meta) {
        node* n = nullptr;
        if (&a == current_node()->arguments && headrace::is<Op>(*current_node())) {
            n = &copy_of_current();
        } else {
            n = with_metadata(meta, [&] { return this->template add<Op>(a); });
        }
        if constexpr (Op::results == 1) {
            return n == nullptr ? value{} : n->result();
        } else {
            return results_of(n);
        }
    }
    /// Creates a node of an op known at run time; its `val` is inferred by the context's rules.
    value_list call_operator(const operator_call& call, const node_metadata& meta) {
        if (!call.changed() && &call.source() == current_node()) return results_of(&copy_of_current());
        const std::size_t count = call.op().results == variadic_results
            ? current_node()->result_count
            : static_cast<std::size_t>(call.op().results);
        return results_of(with_metadata(meta, [&] { return this->add(call.op(), call.arguments(), count); }));
    }

    /// Creates an input of the graph.
    value placeholder(std::string_view name, const tensor_meta& val, const node_metadata& meta) {
        return made(owner().create<builtin::placeholder>({}, current_node()), name, val, meta);
    }
    /// Creates a tensor that is known before the program runs.
    value get_attr(
        std::string_view name, const tensor_data& data, const tensor_meta& val, const node_metadata& meta) {
        return made(owner().create<builtin::constant>({.data = data}, current_node()), name, val, meta);
    }
    /// Creates the outputs of the graph.
    void output(std::span<const value> values, const node_metadata& meta) {
        for (const value v : values) {
            if (!v) return;  // a failure, already reported
        }
        node& n = owner().create<builtin::output>({.values = list<value>(values)}, current_node());
        n.annotations = meta.source().annotations;
        has_output_ = true;
    }
    /// Runs this pass on a region.
    void submodule(graph& region) {
        if (run_ != nullptr && status_) status_ = detail::retrace_region(*run_, region);
    }

    /// Gives a value created by the hook a `val` other than the inferred one. Values that depend on the
    /// visited node's `val` are inferred again.
    value set_val(value v, const tensor_meta& val) {
        if (v) owner().set_meta(changed(v), val);
        return v;
    }
    /// Adds metadata to the node of a value created by the hook.
    template <class T>
    value annotate(value v, const T& data) {
        if (v) owner().annotate(*changed(v).producer, data);
        return v;
    }

    /// True if these are the results of an unused copy of the visited node, which can then stay in its place.
    [[nodiscard]] bool is_unchanged(const value_list& results) const {
        if (copy_ == nullptr || copy_->first_use != nullptr || results.size() != copy_->result_count)
            return false;
        for (std::uint32_t i = 0; i != copy_->result_count; ++i) {
            if (!(results[i] == copy_->result(i))) return false;
        }
        return true;
    }
    [[nodiscard]] bool has_output() const { return has_output_; }
    [[nodiscard]] result<void>& status() { return status_; }

private:
    template <class Add>
    node* with_metadata(const node_metadata& meta, Add&& add_node) {
        node* const visited = std::exchange(current_node(), const_cast<node*>(&meta.source()));
        node* const n = add_node();
        current_node() = visited;
        return n;
    }
    value made(node& n, std::string_view name, const tensor_meta& val, const node_metadata& meta) {
        owner().set_meta(n.result(), val);
        owner().set_name(n.result(), name);
        n.annotations = meta.source().annotations;
        return n.result();
    }
    // Always creates a new node, so that nodes which the hook creates later come after it.
    node& copy_of_current() {
        node& n = *current_node();
        copy_ = &owner().create(*n.op, n.arguments, n.result_count, &n);
        std::copy_n(n.results, n.result_count, copy_->results);
        owner().inherit_annotations(*copy_, n);
        return *copy_;
    }
    value changed(value v) {
        if (v.producer == copy_) copy_ = nullptr;
        return v;
    }

    node* copy_ = nullptr;
    detail::retracing_run* run_;
    result<void> status_;
    bool has_output_ = false;
};

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
        append(with, returned);
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
