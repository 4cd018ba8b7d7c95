// SPDX-License-Identifier: MIT
// Declares headrace::short_listing, a graph as people read it: without what says little.
#ifndef HEADRACE_LOWERING_SHORT_LISTING_HPP
#define HEADRACE_LOWERING_SHORT_LISTING_HPP

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// A listing (ir/listing.hpp) in which
/// - a quantized value's type says its scale and zero point, `int8<0.05, -3>[1, 16]`, or the range of its
///   scales and their axis, `int8<0.001..0.02, axis 0>[64, 16]`; dequantize nodes are left out, and quantize
///   nodes that are the only user of what they quantize;
/// - constants of up to 8 elements stand where they are used, and those that only nodes use that are left out
///   are left out, too.
/// It refers to the graph.
class short_listing {
public:
    explicit short_listing(const graph& g);
    short_listing(short_listing&&) noexcept;
    ~short_listing();

    [[nodiscard]] std::string text() const;

    /// The lines of the nodes that are at most `depth` edges away from one, forwards or backwards; a value is
    /// named as in the listing or in the graph, with or without %. Nothing if there is none of that name.
    [[nodiscard]] std::optional<std::string> around(std::string_view name, std::size_t depth) const;

    /// The names of all values that are listed.
    [[nodiscard]] std::vector<std::string> names() const;

private:
    class content;
    std::unique_ptr<const content> content_;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/lowering/short_listing_definition.hpp>
#endif

#endif
