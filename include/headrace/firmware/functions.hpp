// SPDX-License-Identifier: MIT
// Defines headrace::firmware::element_functions, which writes element-wise operators as C++ functions.
#ifndef HEADRACE_FIRMWARE_FUNCTIONS_HPP
#define HEADRACE_FIRMWARE_FUNCTIONS_HPP

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/firmware/source_text.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/passes/device/layers.hpp>

namespace headrace::firmware {

/// A struct whose `of` computes an element of a layer, and what it reads beside its first parameter.
struct element_function {
    std::string name;
    std::vector<value> parameters;  ///< inputs of the layer's graph, in the order of the parameters
};

/// The functions of a header. Equal ones are one, so equal layers are of one type and share their code.
class element_functions {
public:
    /// `nodes` are operators of a layer's graph in the order of their execution. What they read is `first`,
    /// if there is one, the function's first parameter; the result of one of them; a constant of one element,
    /// which becomes a literal; a table; or an input, which becomes a parameter. `outside(input)` gives what
    /// stands for an input outside of the layer.
    template <class Outside>
    result<element_function> add(std::string_view wanted, std::span<const node* const> nodes, value first,
        constant_arrays& constants, const Outside& outside) {
        return write(wanted, nodes, first, constants,
            {&outside, [](const void* f, value v) { return (*static_cast<const Outside*>(f))(v); }});
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    struct outside_function {
        const void* object;
        value (*call)(const void* object, value input);
        value operator()(value input) const { return call(object, input); }
    };
    friend class function_writer;

    result<element_function> write(std::string_view wanted, std::span<const node* const> nodes, value first,
        constant_arrays& constants, outside_function outside);

    identifiers names_;
    std::map<std::string, std::string, std::less<>> known_;  // from bodies to names
    std::string text_;
};

/// The element type of a tensor in memory, or nothing if kernels do not compute with it.
[[nodiscard]] std::optional<on_device::element> element_of(dtype t);

}  // namespace headrace::firmware

#endif
