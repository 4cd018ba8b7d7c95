// SPDX-License-Identifier: MIT
// Defines headrace::export_interpreter, with which the hooks of interpreters create nodes.
#ifndef HEADRACE_FX_EXPORT_INTERPRETER_HPP
#define HEADRACE_FX_EXPORT_INTERPRETER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/pass/driver.hpp>

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

}  // namespace headrace

#endif
