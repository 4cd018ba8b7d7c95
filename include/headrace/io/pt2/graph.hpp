// SPDX-License-Identifier: MIT
// Defines headrace::pt2::graph_builder, which makes the nodes of an exported graph.
#ifndef HEADRACE_IO_PT2_GRAPH_HPP
#define HEADRACE_IO_PT2_GRAPH_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/constant_truth.hpp>
#include <headrace/io/pt2/node_text.hpp>
#include <headrace/io/pt2/provenance.hpp>
#include <headrace/io/pt2/run_time.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/io/pt2/target.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

class graph_builder {
public:
    /// `json` parses nodes; scopes use `values_json` for what nodes refer to. `truth` computes masks; it may
    /// be null, but then nodes that select by a mask cannot be read.
    graph_builder(symbol_table& symbols, json_parser& json, json_parser& values_json, constant_truth truth,
        std::pmr::memory_resource* arena);

    /// Adds the nodes of a graph whose inputs are in `names`.
    void read_nodes(scope& names, std::span<const node_text> nodes);

private:
    // Returns a string without its quotes, for messages and names; empty for null.
    [[nodiscard]] std::string plain(std::string_view raw);
    // Returns "net.py:42: " if the node's trace has a line.
    [[nodiscard]] std::string line_of(const node_text& text);
    [[nodiscard]] std::string target_of(std::string_view raw);

    void read_node(scope& names, const node_text& text, const std::string& target, const std::string& name);

    // Adds a number that the program computes at run time. If a tensor holds the number, it can be used as a
    // tensor.
    template <class F>
    void read_number(scope& names, run_time_reader& run_time, const node_text& text, std::string_view target,
        std::string_view result, const F& read_as_unknown);

    template <class F>
    void read_known(scope& names, const node_text& text, const op_info& op, bool in_place,
        const pmr_vector<std::string_view>& results, std::pmr::memory_resource& scratch,
        const F& annotate_as);

    // The value that is written has the type and shape of the tensor itself; only predicates are booleans
    // before that.
    static void set_pure_meta(
        graph& g, scope& names, node& pure, node& written, std::span<const std::string_view> results);
    [[nodiscard]] static bool is_predicate(const op_info& op);

    // Fails if the type or shape of a result is not known; for known ops define() does so.
    static void check_results(scope& names, std::span<const std::string_view> results) {
        for (const std::string_view r : results) names.check(r);
    }

    // Erases the nodes that were made for a node that cannot be read after all. Constants that became its
    // operands have names and stay, since other nodes may use them.
    static void erase_after(graph& g, const node* last, const op_info* op);

    enum class result_kind : std::uint8_t {
        tensors,
        known_number,    ///< computed from known sizes: the node is not needed
        run_time_number  ///< computed when the program runs
    };
    // A result without a name is None.
    result_kind read_results(scope& names, std::string_view outputs, pmr_vector<std::string_view>& results,
        std::pmr::memory_resource& scratch);

    static std::size_t results_of(const op_info& op, std::size_t named);

    graph* read_region(graph& parent, std::string_view text);

    void fill_region(graph& region, const graph_text& text);

    template <class F>
    void for_each_tensor(std::string_view arguments, F&& f);

    symbol_table& symbols_;
    json_parser& json_;
    json_parser& values_json_;
    constant_truth truth_;
    std::pmr::memory_resource* arena_;
    provenance_reader origins_;
    int depth_ = 0;
};

}  // namespace headrace::pt2

#endif
