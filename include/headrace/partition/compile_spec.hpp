// SPDX-License-Identifier: MIT
// Defines headrace::compile_spec, an option of a backend.
#ifndef HEADRACE_PARTITION_COMPILE_SPEC_HPP
#define HEADRACE_PARTITION_COMPILE_SPEC_HPP

#include <string>
#include <vector>

namespace headrace {

/// An option of a backend. Its value is bytes, which need not be text.
struct compile_spec {
    std::string key;
    std::string value;

    friend bool operator==(const compile_spec&, const compile_spec&) = default;
};
using compile_specs = std::vector<compile_spec>;

}  // namespace headrace

#endif
