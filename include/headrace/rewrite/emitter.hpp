// SPDX-License-Identifier: MIT
// Defines headrace::emitter, with which rewrites make nodes, and headrace::value_list, the results of a node.
#ifndef HEADRACE_REWRITE_EMITTER_HPP
#define HEADRACE_REWRITE_EMITTER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory_resource>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <headrace/base/float_format.hpp>
#include <headrace/base/function_ref.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

namespace detail {
/// Writes `number` as one element of that type, little-endian; returns false if the type has no such form.
bool store_element(scalar number, headrace::dtype type, std::byte* at);
struct expression_access;
}  // namespace detail

/// The results of a node whose number depends on its arguments: a tuple of a length known at run time.
class value_list {
public:
    value_list() = default;
    value_list(std::initializer_list<value> items) : items_(items) {}
    [[gnu::noinline]] void push_back(value v) { items_.push_back(v); }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] const value* data() const { return items_.data(); }
    [[nodiscard]] value operator[](std::size_t i) const { return items_[i]; }
    [[nodiscard]] auto begin() const { return items_.begin(); }
    [[nodiscard]] auto end() const { return items_.end(); }

private:
    pmr_vector<value> items_;
};

/// Returns the first `count` results of a node, or all; none if the node could not be made.
[[nodiscard]] value_list results_of(node* n, std::size_t count = SIZE_MAX);

/// Limits of the nodes and data that a rewrite of one node may create. A file of a few bytes can contain any
/// number, so work is bounded by these limits instead of by available memory and time.
inline constexpr std::int64_t max_unrolled_nodes = std::int64_t{1} << 16;
inline constexpr std::uint64_t max_computed_bytes = std::uint64_t{1} << 28;  ///< of a constant
inline constexpr std::uint64_t max_data_bytes = std::uint64_t{1} << 32;      ///< of all that a graph owns

/// Nodes without operands, shared within a run of a pass, by hash. Each slot keeps the two newest nodes.
class shared_nodes {
public:
    template <class IsWanted>
    [[nodiscard]] node* find(std::uint64_t hash, IsWanted&& is_wanted) const {
        for (node* n : places_[place_of(hash)].nodes) {
            if (n != nullptr && is_wanted(*n)) return n;
        }
        return nullptr;
    }
    void keep(std::uint64_t hash, node* n) {
        place& at = places_[place_of(hash)];
        at.nodes[1] = at.nodes[0];
        at.nodes[0] = n;
    }

private:
    struct place {
        node* nodes[2]{};
    };
    [[nodiscard]] static std::size_t place_of(std::uint64_t hash) {
        return static_cast<std::size_t>(hash * 0x9e3779b97f4a7c15U >> 59U);
    }
    place places_[32];
};

/// The state of rewriting one node: the insertion point, and whether it has failed. Emitters are handles of
/// it.
class emission {
    friend class emitter;

public:
    /// For nodes of `g` in that context; `begin` sets the node.
    emission(graph& g, pass_context& context) : graph_(&g), context_(&context), inference_(g.arena()) {}
    /// New nodes go before `before`, and inherit the annotations of `current`.
    emission(graph& g, node* current, node* before, pass_context& context) : emission(g, context) {
        begin(g, current, before);
    }
    emission(const emission&) = delete;
    emission& operator=(const emission&) = delete;

    /// Continues with another node, in this graph or in one with the same arena.
    void begin(graph& g, node* current, node* before) {
        graph_ = &g;
        current_ = current;
        before_ = before;
        failed_ = false;
        made_ = 0;
    }

private:
    graph* graph_;
    node* current_ = nullptr;
    node* before_ = nullptr;
    pass_context* context_;
    inference inference_;
    bool failed_ = false;
    std::int64_t made_ = 0;
    shared_nodes shared_;
};

/// The part of headrace::emit that is independent of the ops that may be emitted. Failures are sticky: after
/// one, every new value is empty and the current node is kept, so handlers need not check each step. An
/// emitter is a pointer: copies insert nodes at the same place and fail together.
class emitter {
    friend struct detail::expression_access;

public:
    constexpr explicit emitter(emission& made) : at_(&made) {}

    /// The node that is being rewritten.
    [[nodiscard]] const node& current() const { return *at_->current_; }
    [[nodiscard]] graph& owner() const { return *at_->graph_; }
    [[nodiscard]] const target_spec& target() const { return at_->graph_->target(); }

    /// Returns the metadata of a value; `dtype::unknown` if it is empty after a failure, or has lost its
    /// `val`.
    [[nodiscard]] const tensor_meta& meta(value v) const {
        const tensor_meta* known = v ? meta_of(v) : nullptr;
        return known != nullptr ? *known : nothing();
    }
    [[nodiscard]] headrace::dtype dtype(value v) const { return meta(v).dtype; }
    [[nodiscard]] const int_list& shape(value v) const { return meta(v).shape; }
    [[nodiscard]] std::size_t rank(value v) const { return meta(v).rank(); }
    /// Returns the metadata of the results to be replaced.
    [[nodiscard]] const tensor_meta& result_meta(std::uint32_t i = 0) const {
        return meta({at_->current_, i});
    }

    /// Refuses the current node: `reason` is the rule that it breaks. Returns an empty value to return on.
    value unsupported(std::string_view reason);
    value unsupported(std::initializer_list<text_part> reason);
    value fail(error e);
    [[nodiscard]] bool failed() const { return at_->failed_; }

    /// True if a rewrite may repeat nodes `steps` times; above the limit, the node is refused.
    bool may_unroll(std::int64_t steps);
    /// True if a constant of that many elements may be computed; above the limit, the node is refused.
    bool may_compute(std::int64_t elements, headrace::dtype type);

    /// Copies a node of the graph with other operands, in the order of its own; calls `change(tensor_meta&)`
    /// for the metadata of each result. For passes that move ops: an op that is already in the graph need not
    /// be in `produces`. Returns null after a failure, or if an operand is empty.
    template <class Change>
    node* clone(const node& n, std::span<const value> operands, Change&& change) {
        for (const value v : operands) at_->failed_ = failed() || !v;
        if (failed()) return nullptr;
        graph& g = owner();
        node& copy = g.create(*n.op, n.arguments, n.result_count, at_->before_);
        for (std::size_t i = 0; i != operands.size(); ++i) g.set_operand(copy.operands[i], operands[i]);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            tensor_meta meta = this->meta({const_cast<node*>(&n), i});
            change(meta);
            g.set_meta(copy.result(i), meta);
        }
        g.inherit_annotations(copy, n);
        return &copy;
    }

    /// Creates a constant of that type and shape; `fill` writes its elements, row-major.
    value constant(const tensor_meta& meta, function_ref<void(std::span<std::byte>)> fill);
    /// Creates a constant from elements in memory, one for each place of the shape. T must be the storage
    /// type of the dtype; the node is refused if there are more or fewer bytes than the constant has.
    template <class T>
    value constant(headrace::dtype type, std::span<const std::int64_t> shape, std::span<const T> elements) {
        return constant_of_bytes({type, int_list(shape), {}}, std::as_bytes(elements));
    }
    /// Creates a constant whose element i, in row-major order, is `number(i)`.
    value constant_of(
        headrace::dtype type, std::span<const std::int64_t> shape, function_ref<scalar(std::size_t)> number);
    /// Creates a constant with all elements equal to `number`, of shape (1, …, 1), to broadcast with a tensor
    /// of that rank. A run of a pass shares these, if they are created in the order of their users.
    value splat(scalar number, headrace::dtype type, std::size_t rank);
    value splat(scalar number, headrace::dtype type, std::span<const std::int64_t> shape);
    /// Returns an equal node without operands that `make()` created in this run of the pass, if it comes
    /// before new nodes; else calls `make()`. `is_same(node)` compares, and equal nodes must have equal
    /// hashes. Sharing pays: a network has few shapes and zero points, and each node costs time in all later
    /// passes.
    value shared(std::uint64_t hash, function_ref<bool(const node&)> is_same, function_ref<value()> make);

protected:
    /// Adds a node whose metadata is inferred by its op's own rule.
    template <op_tag Op>
    node* add(const args<Op>& a) {
        return add_by(detail::rule_of_op<Op>(), info_of<Op>, &a);
    }
    /// Adds a node of an op known only at run time, with `results` results; the context infers its metadata.
    node* add(const op_info& op, const void* arguments, std::size_t results);

    /// The node whose annotations new nodes inherit; initially the node being rewritten.
    [[nodiscard]] node*& current_node() { return at_->current_; }

private:
    static const tensor_meta& nothing() {
        static constexpr tensor_meta empty{};
        return empty;
    }
    value constant_of_bytes(const tensor_meta& meta, std::span<const std::byte> elements);
    // Like may_compute, but also refuses types whose elements are not stored as numbers.
    bool may_store(std::int64_t elements, headrace::dtype type);
    // Targets have no empty tensors: if the current node has one, the pass is not at fault.
    void cannot_make(const op_info& op, const error& why);
    node* add_by(inference_rule rule, const op_info& op, const void* arguments);
    void annotate_inferred(node& n);
    // Called before each node is made, and counts nodes. An empty operand comes from a failure that was
    // already reported; for an operand without `val`, a pass has lost it.
    bool operands_sound(const op_info& op, const void* arguments);

    emission* at_;
};

namespace detail {

/// Calls `f(value)` for each tensor operand in an argument struct, and stops if it returns false.
template <class F>
bool all_operands(const op_info& op, const void* arguments, F&& f) {
    const auto* bytes = static_cast<const std::byte*>(arguments);
    const auto in_list = [&](const auto& items) {
        for (const auto& v : items) {
            if (!f(v)) return false;
        }
        return true;
    };
    for (const field_info& field : op) {
        const std::byte* at = bytes + field.offset;
        bool sound = true;
        if (field.kind == field_kind::tensor && !field.optional) {
            sound = f(*reinterpret_cast<const value*>(at));
        } else if (field.kind == field_kind::tensor) {
            const auto& v = *reinterpret_cast<const std::optional<value>*>(at);
            sound = !v || f(*v);
        } else if (field.kind == field_kind::tensors) {
            sound = in_list(*reinterpret_cast<const list<value>*>(at));
        } else if (field.kind == field_kind::optional_tensors) {
            for (const auto& v : *reinterpret_cast<const list<std::optional<value>>*>(at))
                sound = sound && (!v || f(*v));
        }
        if (!sound) return false;
    }
    return true;
}

}  // namespace detail

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/rewrite/emitter_definition.hpp>
#endif

#endif
