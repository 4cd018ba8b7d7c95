// SPDX-License-Identifier: MIT
// Defines headrace::graph_history, which records a graph after each pass, for the page that `headrace show
// --html` and `headrace lower --report` write.
#ifndef HEADRACE_SHOW_GRAPH_HISTORY_HPP
#define HEADRACE_SHOW_GRAPH_HISTORY_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <headrace/io/file/json_writer.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/pass/statistics.hpp>

namespace headrace {

/// The graphs of a run of passes as JSON. Each step has the differences to the one before: nodes that are new
/// or changed, in full, and the numbers of removed nodes. examples/docs/page.md describes the format.
class graph_history {
public:
    /// Starts over with the graph before all passes: a lowering may be tried for several targets.
    void begin(const graph& g);
    /// Records the graph after a pass. The graph is read only if the pass rewrote something.
    void add(const pass_record& pass, const graph& g);

    /// Returns the number of a node in the JSON, which is the same in all steps; null if the node is in no
    /// step.
    [[nodiscard]] const std::uint32_t* find(const node& n) const;
    /// Writes the members "texts", to which nodes refer by position, and "steps".
    void write(json_writer& w) const;

private:
    class snapshot;

    struct step {
        std::string pass;  ///< empty for the graph before all passes
        pass_status status = pass_status::ran;
        node_counts counts{};
        std::uint64_t nanoseconds = 0;
        std::vector<std::string> changed{};  ///< JSON objects
        std::vector<std::uint32_t> gone{};
    };
    /// The state of a node in the last step.
    struct known_node {
        std::uint32_t number = 0;
        std::uint64_t hash = 0;
        std::uint32_t seen = 0;  ///< the last step that contains it
    };

    [[nodiscard]] std::uint32_t text(std::string_view text);
    [[nodiscard]] std::uint32_t number_of(const node& n);
    void take(const graph& g, step& to);

    std::vector<step> steps_;
    std::unordered_map<const node*, known_node> nodes_;
    std::unordered_map<std::string, std::uint32_t> texts_;
    std::uint32_t next_number_ = 0;
    std::size_t recorded_ = 0;  ///< bytes of all objects
};

}  // namespace headrace

#endif
