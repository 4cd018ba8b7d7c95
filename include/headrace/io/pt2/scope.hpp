// SPDX-License-Identifier: MIT
// Defines headrace::pt2::scope, which maps the names of one exported graph to values.
#ifndef HEADRACE_IO_PT2_SCOPE_HPP
#define HEADRACE_IO_PT2_SCOPE_HPP

#include <array>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/name_table.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/node_text.hpp>
#include <headrace/io/pt2/symbols.hpp>
#include <headrace/io/pt2/tensor.hpp>
#include <headrace/io/pt2/weights.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// The parts of a graph's JSON, as text. Those that most of the text is in are taken apart at once: to find
/// their ends takes as long.
struct graph_text {
    std::string_view inputs;
    std::string_view outputs;
    std::optional<std::vector<node_text>> nodes;
    /// Names and descriptions of tensors.
    std::optional<std::vector<std::pair<std::string_view, std::string_view>>> tensor_values;
    /// Descriptions of the numbers that are computed from sizes.
    std::array<std::string_view, 3> number_values;
};

/// Reads the parts of the graph at this position.
[[nodiscard]] graph_text read_graph_text(json_cursor& at);

/// Maps names to values, and to their metadata, which is parsed when a value is made. Constants become nodes
/// when they are first used, so that unused ones never do.
class scope {
public:
    scope(headrace::graph& g, const graph_text& text, const symbol_table& symbols, json_parser& json,
        std::pmr::memory_resource* arena);

    [[nodiscard]] headrace::graph& owner() { return graph_; }

    /// Returns the export's description of a tensor or a number of that name; empty if there is none.
    [[nodiscard]] std::string_view description(std::string_view name) const;
    /// Returns a number that the program computes from sizes.
    [[nodiscard]] scalar number(std::string_view name);

    /// Gives a value its name and, if the graph has it, its metadata.
    void define(value v, std::string_view name);

    /// Gives a result of a node that could not be read its name, even if the name is defined already, and its
    /// metadata if that can be read.
    void define_unread(value v, std::string_view name);

    /// Defines a Python number of that name as the only element of `tensor`, or, if that is null, as one that
    /// is computed in another way when the program runs. find() returns `v` for it.
    void define_number(value v, std::string_view name, value tensor);
    /// True if the number is known without running the program.
    [[nodiscard]] bool is_known_number(std::string_view name);
    /// Fails as define() does if the type and shape of a tensor cannot be read.
    void check(std::string_view name);
    [[nodiscard]] bool is_run_time_number(std::string_view name) const {
        return run_time_numbers_.contains(name);
    }
    /// Returns the tensor whose only element that number is; null if there is none.
    [[nodiscard]] value tensor_of_number(std::string_view name) const;

    /// Returns the name of a result without metadata that was looked up since the last call; empty if there
    /// was none.
    [[nodiscard]] std::string_view take_unread() { return std::exchange(looked_up_unread_, {}); }

    /// Returns the sizes that the graph gives a tensor; nullopt if it gives none, or if some are not known.
    [[nodiscard]] std::optional<extents> sizes_of(std::string_view name);
    /// Returns the formula of the tensor's first size that is not known; empty if all are known.
    [[nodiscard]] std::string open_size(std::string_view name);

    /// Names a weight of that store.
    void define_weight(std::string_view name, std::string_view fqn, weight_store& store);

    [[nodiscard]] value find(std::string_view name);

private:
    struct entry {
        std::string_view description{};  // the graph's description; may be missing
        bool is_defined = false;
        bool is_unread = false;  // its type and shape are not known
        value known{};           // of a weight: once it is used
        std::string_view fqn{};
        weight_store* store = nullptr;
    };

    void read_numbers(std::string_view values);

    void set_meta(value v, std::string_view name, const entry& e);

    // Returns the entry of a name whose value is defined now.
    entry& claim(std::string_view name);

    [[noreturn]] static void fail_twice(std::string_view name) {
        fail_malformed("the name " + in_quotes(name) + " is used twice");
    }

    value make_constant(std::string_view name, const entry& e);

    headrace::graph& graph_;
    const symbol_table& symbols_;
    json_parser& json_;
    std::pmr::unordered_map<std::string_view, std::string_view> numbers_;
    name_table<entry> values_;
    std::map<std::string_view, value> run_time_numbers_;
    std::string_view looked_up_unread_;
};

}  // namespace headrace::pt2

#endif
