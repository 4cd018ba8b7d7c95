// SPDX-License-Identifier: MIT
// Defines headrace::text::reader, which makes a graph from its text.
#ifndef HEADRACE_IO_TEXT_READER_HPP
#define HEADRACE_IO_TEXT_READER_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/io/program.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/io/text/sources.hpp>

namespace headrace::text {

/// Reads a graph and the graphs nested in it. Throws headrace::failure.
class reader {
public:
    /// `find_op` finds the ops that the sources' own finder does not.
    reader(std::string_view text, const graph_text_sources& sources, op_finder find_op)
        : at_(text, sources.name), sources_(sources), find_op_(find_op) {}

    program read();

private:
    struct result_text {
        std::size_t at = 0;
        std::string key{};
        std::string name{};
        std::optional<tensor_meta> meta{};
        std::vector<std::int64_t> shape{};
        std::vector<std::int64_t> dim_order{};
    };

    // --- the program --------------------------------------------------------------------

    void read_header(program& p);
    void read_mutation(program& p);
    std::size_t read_count();

    // --- nodes --------------------------------------------------------------------------

    // Reads a graph in braces, an argument of the current node.
    graph* read_region();
    void finish_graph() {
        if (graph_->output() == nullptr) at_.fail_here("expected 'output' at the end of a graph");
    }

    void read_node();
    result_text read_result();
    static std::string types_there_are();
    // Returns the key by which the value is found, and its name.
    std::pair<std::string, std::string> read_value_name();
    static std::string shown(const std::string& key);

    value read_value();
    void check_results(std::size_t at, const op_info& op, const std::vector<result_text>& results);
    tensor_data read_data(std::size_t at, const result_text& r);
    node& read_call(std::size_t at, const std::string_view name, const std::vector<result_text>& results);
    node& read_opaque(std::size_t results);
    void define(node& n, const std::vector<result_text>& results);
    node& read_outputs();

    cursor at_;
    const graph_text_sources& sources_;
    op_finder find_op_;
    graph* graph_ = nullptr;
    std::map<std::string, value, std::less<>> values_;
    int depth_ = 0;
    bool user_outputs_ = false;
};

}  // namespace headrace::text

#endif
