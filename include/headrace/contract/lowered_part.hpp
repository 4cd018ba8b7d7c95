// SPDX-License-Identifier: MIT
// Defines the TOSA part of a contract, for headrace::contract_text.
#ifndef HEADRACE_CONTRACT_LOWERED_PART_HPP
#define HEADRACE_CONTRACT_LOWERED_PART_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/contract/member_text.hpp>
#include <headrace/contract/op_spelling.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/target/node_facts.hpp>

namespace headrace::detail {

/// The operators of a lowered graph, and the tables of tensors and attributes that they share.
class lowered_part {
public:
    explicit lowered_part(graph& g) {
        for_each_graph(g, [&](graph& sub) {
            for (const node& n : sub.nodes()) add(n);
        });
    }

    [[nodiscard]] std::string text() const {
        return ops_alias("lowered_ops", ops_) +
            "\n    // The operators, and the tensors that they refer to.\n" +
            format_array("headrace::tensor_meta", "tensors", tensors_.rows) +
            format_array("headrace::op_attributes", "attributes", attributes_.rows) + format_uses() +
            format_array("headrace::contract_node", "nodes", nodes_);
    }
    [[nodiscard]] std::uint64_t constant_bytes() const { return constant_bytes_; }

private:
    /// Rows without duplicates, and the index of each.
    struct table {
        std::vector<std::string> rows{};
        std::map<std::string, std::size_t> positions{};

        std::size_t add(const std::string& row) {
            const auto [at, is_new] = positions.emplace(row, rows.size());
            if (is_new) rows.push_back(row);
            return at->second;
        }
    };

    void add(const node& n) {
        if (is<builtin::constant>(n) || is<tosa::const_>(n)) {
            const tensor_meta& meta = *n.results[0].meta;
            constant_bytes_ += storage_bytes(meta.dtype, static_cast<std::uint64_t>(meta.elements()));
        }
        if (!is_of_dialect<tosa::dialect>(n)) return;
        if (is<tosa::const_>(n) || is<tosa::const_shape>(n)) return;
        ops_.insert(format_op(*n.op));
        const op_facts f = facts_of(n);
        const std::size_t first = uses_.size();
        for (std::size_t i = 0; i != f.operand_count + f.result_count; ++i) {
            const tensor_meta& meta = *f.tensors[i];
            const std::string row =
                join_text('{', format_dtype(meta.dtype), ", ", format_list(meta.shape), '}');
            uses_.push_back(join_text(tensors_.add(row)));
        }
        std::string row = join_text("{&headrace::info_of<", format_op(*n.op), ">, ",
            c_string_literal(origin_name(n)), ", ", first, ", ", f.operand_count, ", ", f.result_count, ", ",
            hexadecimal(f.constants), ", ", attributes_.add(format_attributes(f.attributes)));
        if (f.list_length != 0) row += join_text(", ", f.list_length);
        nodes_.push_back(row + "}");
    }

    static std::string hexadecimal(std::uint64_t bits) {
        char digits[16];
        return {"0x" + std::string(digits, std::to_chars(digits, std::end(digits), bits, 16).ptr)};
    }

    // Only attributes that differ from their defaults are written.
    static std::string format_attributes(const op_attributes& a) {
        std::string all = "{";
        const auto add = [&](std::string_view name, std::string_view text) {
            all += join_text(all.size() == 1 ? "." : ", .", name, " = ", text);
        };
        const auto add_list = [&](std::string_view name, sizes items) {
            if (!items.empty()) add(name, format_list(items));
        };
        add_list("kernel", a.kernel);
        add_list("stride", a.stride);
        add_list("pad", a.pad);
        add_list("dilation", a.dilation);
        add_list("scale", a.scale);
        add_list("offset", a.offset);
        if (a.axis != 0) add("axis", format_integer(a.axis));
        if (a.declared != dtype::unknown) add("declared", format_dtype(a.declared));
        if (a.mode != resize_mode::unknown)
            add("mode", join_text("headrace::resize_mode::", name_of(a.mode)));
        if (a.round) add("round", "true");
        if (a.weight_sum != 0) add("weight_sum", format_integer(a.weight_sum));
        if (!a.bias_fits) add("bias_fits", "false");
        if (!a.only_rescaled) add("only_rescaled", "false");
        if (a.from_convolution) add("from_convolution", "true");
        return all + '}';
    }

    [[nodiscard]] std::string format_uses() const {
        const std::string head =
            join_text("    static constexpr std::array<std::uint32_t, ", uses_.size(), "> uses{");
        return uses_.empty() ? head + "};\n" : join_text(head, '\n', wrapped(uses_, "        "), "};\n");
    }

    std::set<std::string> ops_;
    table tensors_;
    table attributes_;
    std::vector<std::string> uses_;
    std::vector<std::string> nodes_;
    std::uint64_t constant_bytes_ = 0;
};

}  // namespace headrace::detail

#endif
