// SPDX-License-Identifier: MIT
// Defines the names of a graph's values in a TOSA flatbuffer.
#ifndef HEADRACE_IO_TOSA_NAMES_HPP
#define HEADRACE_IO_TOSA_NAMES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/name_table.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/operand_fields.hpp>
#include <headrace/ir/time_step.hpp>

namespace headrace::tosa_file {

/// Makes names that are unique in a whole file, because readers may put its blocks into one namespace.
class unique_names {
public:
    /// Returns the base, or the base with a number appended. The text lives as long as this object.
    [[nodiscard]] std::string_view make(std::string_view base) {
        std::uint32_t* const count = used_.find(base);
        if (count == nullptr) return add(base);
        for (;;) {
            ((numbered_ = base) += '_') += number_text((*count)++);
            if (used_.find(numbered_) == nullptr) return add(numbered_);
        }
    }
    /// Makes room for that many more names.
    void expect(std::size_t count) { used_.reserve(used_.size() + count); }

private:
    std::string_view add(std::string_view name) {
        char* copy = static_cast<char*>(memory_.allocate(name.size() + 1, 1));
        std::ranges::copy(name, copy);
        used_.try_emplace({copy, name.size()}, 1);
        return {copy, name.size()};
    }

    std::pmr::monotonic_buffer_resource memory_;
    name_table<std::uint32_t> used_;  // how often each is a base
    std::pmr::string numbered_;       // a name on trial; the next one reuses its memory
};

/// Names the values of one region. A value that has a name keeps it. The operator that computes the value of
/// an exported node gets that node's name (`softmax`); other operators made for the node add their op
/// (`softmax.reduce_max`), and a constant adds the operand that it is (`conv2d.weight`). Names in a network
/// that was unrolled begin with their time step (`gru_l0_t3of32.sigmoid`).
class tosa_names {
public:
    tosa_names(const graph& region, unique_names& names)
        : region_(region), names_(names), first_value_(region.id_bound()) {
        std::size_t count = 0;
        principals_.reserve(region.size());
        for (const node& n : region.nodes()) {
            first_value_[n.id] = count;
            count += n.result_count;
            if (!is_constant(n)) note_principal(n);
        }
        given_.resize(count);
        names.expect(count);
        name_all();
    }

    /// Returns the position of a value among all of its region; all() has the names in this order.
    [[nodiscard]] std::size_t index(const node& n, std::uint32_t i) const { return first_value_[n.id] + i; }
    [[nodiscard]] std::size_t index(value v) const { return index(*v.producer, v.result); }
    [[nodiscard]] std::span<const std::string_view> all() const { return given_; }

private:
    [[nodiscard]] static bool is_constant(const node& n) {
        return is<builtin::constant>(n) || is<tosa::const_>(n) || is<tosa::const_shape>(n);
    }
    // Appends the op's name in the form that values use: `reduce_max`.
    static void put_label(std::pmr::string& to, const op_info& op) {
        for (const char c : op.name.substr(op.name.rfind('.') + 1))
            to += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    // A step of an unrolled network has a name of its own.
    [[nodiscard]] static std::string_view origin_of(const node& n) {
        if (const auto* step = n.find_annotation<time_step>()) return step->name;
        const auto* origin = n.find_annotation<provenance>();
        return origin != nullptr ? origin->node_name : std::string_view();
    }

    // The last operator of an origin computes the exported node's value; operators that only move elements
    // may follow.
    struct candidate {
        const node* which;
        int rank;
    };
    void note_principal(const node& n) {
        const std::string_view origin = origin_of(n);
        if (origin.empty() || n.result_count == 0) return;
        const int rank = n.name() == origin ? 2 : n.op->has(trait::reshaping | trait::permuting) ? 0 : 1;
        if (!was_last(origin)) last_ = principals_.try_emplace(origin, {&n, rank}).first;
        last_origin_ = origin;
        if (rank >= last_->rank) *last_ = {&n, rank};
    }
    // Returns the operator that gets the name of that exported node.
    [[nodiscard]] const candidate* principal_of(std::string_view origin) {
        if (!was_last(origin)) last_ = principals_.find(origin);
        last_origin_ = origin;
        return last_;
    }
    // True if that origin was looked up last. Nodes of one origin are mostly adjacent.
    [[nodiscard]] bool was_last(std::string_view origin) const {
        return last_ != nullptr && origin.data() == last_origin_.data() &&
            origin.size() == last_origin_.size();
    }

    // Returns the name that a value should get; it is valid until the next call.
    [[nodiscard]] std::string_view wanted(value v) {
        const node& n = *v.producer;
        if (const auto& own = n.results[v.result].name; !own.empty()) return own;
        const std::string_view origin = origin_of(n);
        const candidate* principal = origin.empty() ? nullptr : principal_of(origin);
        if (!origin.empty() && (principal == nullptr || principal->which == &n)) return origin;
        wanted_ = origin;
        if (!origin.empty()) wanted_ += '.';
        put_label(wanted_, *n.op);
        return wanted_;
    }

    [[nodiscard]] bool has_name(value v) const { return given_[index(v)].data() != nullptr; }
    void give(value v) {
        if (!has_name(v)) give(v, wanted(v));
    }
    void give(value v, std::string_view base) {
        given_[index(v)] = names_.make(base);
        ++given_count_;
    }

    // Inputs and outputs come first, so that no other value takes the names that the program gave them;
    // constants come after the operators that they are named for.
    void name_all() {
        for (node& n : region_.inputs()) give(n.result());
        for (const value v : region_.outputs()) give(v);
        for (node& n : region_.nodes()) {
            if (is_constant(n)) continue;
            for (std::uint32_t i = 0; i != n.result_count; ++i) give(n.result(i));
            name_constants(n);
        }
        if (given_count_ == given_.size()) return;
        for (node& n : region_.nodes()) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) give(n.result(i));
        }
    }

    // Names the constants that this operator is the first to read.
    void name_constants(const node& n) {
        const auto is_open = [&](const edge& e) {
            const value v = *e.slot;
            return v.producer->owner == &region_ && is_constant(*v.producer) && !has_name(v);
        };
        if (std::ranges::none_of(n.operand_edges(), is_open)) return;
        const pmr_vector<std::string_view> fields = operand_fields(n);
        for (std::size_t k = 0; k != n.operand_count; ++k) {
            if (!is_open(n.operands[k])) continue;
            const value v = n.operand(k);
            const bool says_which = v.producer->name().empty() && n.result_count != 0 && !fields[k].empty();
            if (says_which) {
                ((wanted_ = given_[index(n, 0)]) += '.') += fields[k];
                give(v, wanted_);
            } else {
                give(v);
            }
        }
    }

    const graph& region_;
    unique_names& names_;
    pmr_vector<std::size_t> first_value_;  // by node id, into `given_`
    pmr_vector<std::string_view> given_;   // null until named
    std::size_t given_count_ = 0;
    name_table<candidate> principals_;  // by the exported node's name
    std::string_view last_origin_;      // the last one looked up there; `last_`: found
    candidate* last_ = nullptr;
    std::pmr::string wanted_;
};

}  // namespace headrace::tosa_file

#endif
