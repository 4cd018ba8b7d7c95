// SPDX-License-Identifier: MIT
// Defines headrace::listing, a graph as text that people read, and headrace::printed_names.
#ifndef HEADRACE_IR_LISTING_HPP
#define HEADRACE_IR_LISTING_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/name_table.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

/// A name for each value of a graph and its regions, no two alike, and printable. Values keep the names that
/// they have; where two share one, or a value has none, a name made of the op and a number serves.
class printed_names {
public:
    explicit printed_names(const graph& g);
    [[nodiscard]] std::string_view operator[](value v) const;
    /// Where a region stands among those of its graph: that with the number 0 was made first.
    [[nodiscard]] std::size_t number_of(const graph& region) const;

private:
    struct names_of_graph {
        const graph* owner;
        std::size_t number;
        std::string_view** names;  // of each result, by the node's id; null of one that is no more
    };

    // As std::qsort and std::bsearch want it: their templates cost much of what a listing costs to compile.
    static int order_by_address(const void* a, const void* b);
    [[nodiscard]] const names_of_graph* find(const graph* g) const;
    // In the order in which they were made; a graph lists the last one first.
    [[nodiscard]] static pmr_vector<const graph*> regions_of(const graph& g);
    void claim_own(const graph& g, std::size_t number);
    void fill_missing(const graph& g);
    // "aten.conv2d.default" gives "conv2d".
    static std::pmr::string base_of(const op_info& op);
    // Makes `text` the name `as`, if no value has it.
    bool claim(std::string_view text, std::string_view& as);
    std::string_view unused(std::string_view base);

    arena memory_{std::pmr::get_default_resource()};
    pmr_vector<names_of_graph> graphs_;  // by their owners' addresses
    name_table<int> taken_;                    // with the last number that was tried behind each
};

namespace detail {

// What stands for a value and for a region in a listing.
class listed_names {
public:
    explicit listed_names(const printed_names& names) : names_(&names) {}

    std::pmr::string operator()(value v) const;
    // By its number, as in "#0".
    std::pmr::string operator()(const graph* region) const;

private:
    const printed_names* names_;
};

// "%x, %w, stride=[2, 2]": what equals the schema's default is left out, lists of tensors never are, and
// tensors need no name as long as none before them was left out.
[[nodiscard]] std::pmr::string listed_arguments(const node& n, const listed_names& names);

}  // namespace detail

/// One line for each node, in execution order:
///
///     %x: float32[1, 16, 8, 8] = input
///     %w: float32[4, 16, 3, 3] = constant
///     %y: float32[1, 4, 3, 3] = aten.conv2d.default(%x, %w, stride=[2, 2])
///     output %y
///
/// Arguments that equal the op's defaults are left out; a region follows the node that holds it.
[[nodiscard]] std::pmr::string listing(const graph& g);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/listing_definition.hpp>
#endif

#endif
