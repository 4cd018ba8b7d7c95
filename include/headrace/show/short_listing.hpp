// SPDX-License-Identifier: MIT
// Declares headrace::short_listing, a graph for people to read, without uninformative nodes.
#ifndef HEADRACE_SHOW_SHORT_LISTING_HPP
#define HEADRACE_SHOW_SHORT_LISTING_HPP

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// A listing (ir/listing.hpp) with these abbreviations:
/// - the type of a quantized value has its scale and zero point, `int8<0.05, -3>[1, 16]`, or the range of its
///   scales and their axis, `int8<0.001..0.02, axis 0>[64, 16]`; dequantize nodes are omitted, as are
///   quantize nodes that are the only user of their operand;
/// - constants of up to 8 elements are shown where they are used; constants that only omitted nodes use are
///   omitted, too.
/// It refers to the graph.
class short_listing {
public:
    explicit short_listing(const graph& g);
    short_listing(short_listing&&) noexcept;
    ~short_listing();

    [[nodiscard]] std::string text() const;

    /// Returns the lines of nodes at most `depth` edges away from a value, forwards or backwards; the value
    /// is named as in the listing or in the graph, with or without %. Nothing if there is no such name.
    [[nodiscard]] std::optional<std::string> around(std::string_view name, std::size_t depth) const;

    /// Returns the names of all listed values.
    [[nodiscard]] std::vector<std::string> names() const;

private:
    class content;
    std::unique_ptr<const content> content_;
};

}  // namespace headrace

#endif
