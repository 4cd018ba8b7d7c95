// SPDX-License-Identifier: MIT
// Defines headrace::listing, a readable text of a graph, and headrace::printed_names.
#ifndef HEADRACE_IR_LISTING_HPP
#define HEADRACE_IR_LISTING_HPP

#include <cstddef>
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

/// A unique, printable name for each value of a graph and its regions. Values keep their names; a value
/// without a name, or whose name is taken, gets one made of its op and a number.
class printed_names {
public:
    explicit printed_names(const graph& g);
    [[nodiscard]] std::string_view operator[](value v) const;
    /// Returns the index of a region among those of its graph, in order of creation.
    [[nodiscard]] std::size_t number_of(const graph& region) const;

private:
    struct names_of_graph {
        const graph* owner;
        std::size_t number;
        std::string_view** names;  // of each result, by the node's id; null for an erased node
    };

    [[nodiscard]] const names_of_graph* find(const graph* g) const;
    // Returns the regions in order of creation; a graph lists the last one first.
    [[nodiscard]] static pmr_vector<const graph*> regions_of(const graph& g);
    void claim_own(const graph& g, std::size_t number);
    void fill_missing(const graph& g);
    // Returns "conv2d" for "aten.conv2d.default".
    static std::pmr::string base_of(const op_info& op);
    // Makes `text` the name `as`, unless another value has it.
    bool claim(std::string_view text, std::string_view& as);
    std::string_view unused(std::string_view base);

    arena memory_{std::pmr::get_default_resource()};
    pmr_vector<names_of_graph> graphs_;  // sorted by their owners' addresses
    name_table<int> taken_;              // by name, the last number that was appended
};

namespace detail {

// Returns the text of a value or a region in a listing.
class listed_names {
public:
    explicit listed_names(const printed_names& names) : names_(&names) {}

    std::pmr::string operator()(value v) const;
    // Returns the region's number: "#0".
    std::pmr::string operator()(const graph* region) const;

private:
    const printed_names* names_;
};

// Returns "%x, %w, stride=[2, 2]". Arguments equal to the schema's default are left out, except lists of
// tensors; tensors are positional until an argument before them is left out.
[[nodiscard]] std::pmr::string listed_arguments(const node& n, const listed_names& names);

}  // namespace detail

/// Returns one line for each node, in execution order:
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
