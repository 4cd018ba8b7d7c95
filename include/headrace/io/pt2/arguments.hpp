// SPDX-License-Identifier: MIT
// Defines headrace::pt2::argument_reader, which fills an op's argument struct from a node's inputs.
#ifndef HEADRACE_IO_PT2_ARGUMENTS_HPP
#define HEADRACE_IO_PT2_ARGUMENTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/pt2/number.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/io/pt2/target.hpp>
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
[[nodiscard]] inline bool is_graph(std::string_view text) {
    bool found = false;
    json_cursor at(text);
    at.members([&](std::string_view key) {
        found = found || key == "as_graph";
        at.skip();
    });
    return found;
}

/// Reads the arguments of one node. Its lists are stored in `scratch` until graph::create copies them.
/// Looking up a name can parse a weight's description: `names` must not share a parser with `json`.
class argument_reader : private argument_converter {
public:
    using region_reader = std::function<graph*(std::string_view text)>;

    argument_reader(
        scope& names, json_parser& json, std::pmr::memory_resource* scratch, region_reader read_region)
        : argument_converter(names, scratch),
          json_(json),
          read_region_(std::move(read_region)),
          given_(scratch),
          numbers_(scratch),
          elements_(scratch),
          appended_(scratch) {}

    /// Returns the argument struct of a known op.
    [[nodiscard]] const void* read(const op_info& op, std::string_view inputs) {
        void* arguments = scratch_->allocate(op.args_size + 1, op.args_alignment);
        std::memcpy(arguments, op.default_args, op.args_size);
        op_ = &op;
        arguments_ = static_cast<std::byte*>(arguments);
        for_each_input(inputs, [&](std::string_view name, std::string_view text) {
            try {
                read_one(name, text);
            } catch (failure& f) {
                if (!name.empty()) f.what = f.what.in("argument " + in_quotes(name));
                throw;
            }
        });
        place_appended();
        place_numbers();
        for (const field_info& f : op) require(f);
        return arguments;
    }

private:
    // True for arguments of PyTorch's schemas that no pass can use.
    static bool is_ignored(std::string_view name) {
        return name == "layout" || name == "device" || name == "generator" || name == "pin_memory";
    }

    const field_info& field_for(std::string_view name) {
        if (!name.empty()) {
            const field_info* found = op_->find(argument_name(*op_, name));
            if (found == nullptr) fail_malformed("the op has no such argument");
            return *found;
        }
        const bool to_last = !given_.empty() && given_.size() == op_->field_count;
        if (given_.size() >= op_->field_count &&
            !(to_last && op_->fields[op_->field_count - 1].kind == field_kind::tensors)) {
            fail_malformed("it has more arguments than the op");
        }
        return op_->fields[to_last ? op_->field_count - 1 : given_.size()];
    }

    void read_one(std::string_view name, std::string_view text) {
        if (is_ignored(name) && op_->find(name) == nullptr) return;
        const field_info& field = field_for(name);
        const bool again = std::find(given_.begin(), given_.end(), &field) != given_.end();
        if (field.kind == field_kind::region) {
            if (again) fail_malformed("it is given twice");
            given_.push_back(&field);
            at<graph*>(field) = read_region_(text);
            return;
        }
        if (is_graph(text)) fail_malformed("the op takes no graph here");
        const argument a(json_.parse(text));
        if (field.kind == field_kind::tensors && name.empty() && a.is("as_tensor")) return append(field, a);
        if (again) fail_malformed("it is given twice");
        given_.push_back(&field);
        assign(field, a);
    }

    // Appends to a list of the struct one of the tensors that a higher-order op takes one by one. They are
    // collected first, because each longer copy of the list would stay in the arena.
    void append(const field_info& field, const argument& a) {
        if (appended_to_ != &field) {
            place_appended();
            appended_to_ = &field;
            const auto& items = at<list<value>>(field);
            appended_.assign(items.begin(), items.end());
            if (given_.empty() || given_.back() != &field) given_.push_back(&field);
        }
        appended_.push_back(names_.find(json_get<std::string_view>(a.content, "name")));
    }
    void place_appended() {
        if (appended_to_ != nullptr) at<list<value>>(*appended_to_) = keep(appended_);
    }

    void assign(const field_info& field, const argument& a) {
        switch (field.kind) {
            case field_kind::tensor:
                return put<value>(field, a);
            case field_kind::tensors:
                return put<list<value>>(field, a);
            case field_kind::optional_tensors:
                return put<list<std::optional<value>>>(field, a);
            case field_kind::integer:
                return put<std::int64_t>(field, a);
            case field_kind::integers:
                return put<int_list>(field, a);
            case field_kind::floating:
                return put<double>(field, a);
            case field_kind::floatings:
                return put<list<double>>(field, a);
            case field_kind::boolean:
                return put<bool>(field, a);
            case field_kind::number:
                return put<scalar>(field, a);
            case field_kind::text:
                return put<std::string_view>(field, a);
            case field_kind::element_type:
                return put<dtype>(field, a);
            case field_kind::format:
                return put<memory_format>(field, a);
            case field_kind::texts:
                return put<list<std::string_view>>(field, a);
            case field_kind::custom:
                return put_custom(field, a);
            default:
                fail_malformed("a .pt2 has no argument of that kind");
        }
    }

    template <class T>
    void put(const field_info& field, const argument& a) {
        const bool none =
            a.is("as_none") || (a.is("as_optional_tensor") && argument(a.content).is("as_none"));
        if (none && field.optional) {
            at<std::optional<T>>(field).reset();
        } else if (none && field.kind == field_kind::integers) {
            // Schemas with `int[2]? x=None`: the struct has an empty list for None.
        } else if (const value element = tensor_of_number(a); field.kind == field_kind::tensor && element) {
            elements_.emplace_back(&field, element);
        } else if (scalar number; field.kind == field_kind::tensor && convert(a, number)) {
            numbers_.emplace_back(&field, number);
        } else if (T converted = initial<T>(field); convert(a, converted)) {
            if (field.optional) {
                at<std::optional<T>>(field) = converted;
            } else {
                at<T>(field) = converted;
            }
        } else {
            fail_malformed("it cannot be " + in_quotes(a.tag));
        }
    }
    // A string has the form that it has in a graph's text; a number is written in digits.
    void put_custom(const field_info& field, const argument& a) {
        std::string_view text;
        std::int64_t number = 0;
        if (!convert(a, text) && !convert(a, number)) fail_malformed("it cannot be " + in_quotes(a.tag));
        const std::string given = text.data() != nullptr ? std::string(text) : std::to_string(number);
        if (!field.custom->parse(given, arguments_ + field.offset))
            fail_malformed("it cannot be " + in_quotes(given));
    }
    template <class T>
    T initial(const field_info& field) {
        return field.optional ? T{} : at<T>(field);
    }

    // Runs after all other arguments: a number's type follows that of the tensors beside it.
    void place_numbers() {
        if (numbers_.empty() && elements_.empty()) return;
        dtype beside = dtype::unknown;
        for (const field_info& f : *op_) {
            if (f.kind != field_kind::tensor) continue;
            const value v = f.optional ? at<std::optional<value>>(f).value_or(value{}) : at<value>(f);
            if (beside == dtype::unknown && v && meta_of(v) != nullptr) beside = meta_of(v)->dtype;
        }
        const auto place = [&](const field_info& field, value made) {
            if (field.optional) {
                at<std::optional<value>>(field) = made;
            } else {
                at<value>(field) = made;
            }
        };
        for (const auto& [field, number] : numbers_)
            place(*field, number_constant(names_.owner(), number, beside));
        for (const auto& [field, element] : elements_) place(*field, as_number(element, beside));
    }
    // Casts an element that Python took out of a tensor: it acts with the type of a number, not of the
    // tensor.
    value as_number(value element, dtype beside) {
        const dtype own = meta_of(element)->dtype;
        const scalar kind = is_floating(own) ? scalar(0.0)
            : own == dtype::boolean          ? scalar(false)
                                             : scalar(std::int64_t{0});
        const dtype wanted = type_beside(kind, beside == dtype::unknown ? own : beside);
        if (wanted == own) return element;
        graph& g = names_.owner();
        const value cast = g.create<aten::_to_copy>({.self = element, .dtype = wanted}).result();
        g.set_meta(cast, {wanted, {}, {}});
        return cast;
    }

    // The struct shows only for tensors and graphs that an argument was not given.
    void require(const field_info& field) {
        const bool is_list = field.kind == field_kind::tensors || field.kind == field_kind::optional_tensors;
        const bool missing = (field.kind == field_kind::tensor && !field.optional && !at<value>(field)) ||
            (field.kind == field_kind::region && at<graph*>(field) == nullptr) ||
            (is_list && std::find(given_.begin(), given_.end(), &field) == given_.end() &&
                field.name != "operands");
        if (missing) fail_malformed("argument " + in_quotes(field.name) + " is missing");
    }

    template <class T>
    T& at(const field_info& field) {
        return *reinterpret_cast<T*>(arguments_ + field.offset);
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
