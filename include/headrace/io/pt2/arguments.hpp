// SPDX-License-Identifier: MIT
// Defines headrace::pt2::argument_reader, which fills an op's argument struct from a node's inputs.
#ifndef HEADRACE_IO_PT2_ARGUMENTS_HPP
#define HEADRACE_IO_PT2_ARGUMENTS_HPP

#include <cstddef>
#include <functional>
#include <memory_resource>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/op/op.hpp>

namespace headrace::pt2 {

/// Calls `f(name, text of the argument)` for each input of a node.
template <class F>
void for_each_input(std::string_view inputs, F&& f) {
    json_cursor at(inputs);
    at.elements([&] {
        std::string_view name;
        std::string_view text;
        at.members([&](std::string_view key) {
            const std::string_view content = at.skip();
            if (key == "name" && content.size() >= 2) name = content.substr(1, content.size() - 2);
            if (key == "arg") text = content;
        });
        if (text.empty()) fail_malformed("an input has no 'arg'");
        f(name, text);
    });
}

/// True for a nested graph, which must not be parsed as a whole.
[[nodiscard]] bool is_graph(std::string_view text);

/// Reads the arguments of one node. Its lists are stored in `scratch` until graph::create copies them.
/// Looking up a name can parse a weight's description: `names` must not share a parser with `json`.
class argument_reader : private argument_converter {
public:
    using region_reader = std::function<graph*(std::string_view text)>;

    argument_reader(
        scope& names, json_parser& json, std::pmr::memory_resource* scratch, region_reader read_region);

    /// Returns the argument struct of a known op.
    [[nodiscard]] const void* read(const op_info& op, std::string_view inputs);

private:
    // True for arguments of PyTorch's schemas that no pass can use.
    static bool is_ignored(std::string_view name) {
        return name == "layout" || name == "device" || name == "generator" || name == "pin_memory";
    }

    const field_info& field_for(std::string_view name);

    void read_one(std::string_view name, std::string_view text);

    // Appends to a list of the struct one of the tensors that a higher-order op takes one by one. They are
    // collected first, because each longer copy of the list would stay in the arena.
    void append(const field_info& field, const argument& a);
    void place_appended() {
        if (appended_to_ != nullptr) at<list<value>>(*appended_to_) = keep(appended_);
    }

    void assign(const field_info& field, const argument& a);

    template <class T>
    void put(const field_info& field, const argument& a);
    // A string has the form that it has in a graph's text; a number is written in digits.
    void put_custom(const field_info& field, const argument& a);
    template <class T>
    T initial(const field_info& field) {
        return field.optional ? T{} : at<T>(field);
    }

    // Runs after all other arguments: a number's type follows that of the tensors beside it.
    void place_numbers();
    // Casts an element that Python took out of a tensor: it acts with the type of a number, not of the
    // tensor.
    value as_number(value element, dtype beside);

    // The struct shows only for tensors and graphs that an argument was not given.
    void require(const field_info& field);

    template <class T>
    T& at(const field_info& field) {
        return detail::member_at<T>(static_cast<void*>(arguments_), field);
    }

    json_parser& json_;
    region_reader read_region_;
    const op_info* op_ = nullptr;
    std::byte* arguments_ = nullptr;
    pmr_vector<const field_info*> given_;
    pmr_vector<std::pair<const field_info*, scalar>> numbers_;
    pmr_vector<std::pair<const field_info*, value>> elements_;
    const field_info* appended_to_ = nullptr;
    pmr_vector<value> appended_;
};

}  // namespace headrace::pt2

#endif
