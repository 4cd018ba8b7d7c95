// SPDX-License-Identifier: MIT
// Defines headrace::load_model_with_data, which reads a .pte file whose constants are in a .ptd file.
#ifndef HEADRACE_RUN_EXTERNAL_DATA_HPP
#define HEADRACE_RUN_EXTERNAL_DATA_HPP

#include <string>

#include <headrace/run/models.hpp>

namespace headrace {

/// Reads what load_model reads. `data` is the .ptd file of a .pte file; if it is empty and the .pte file has
/// external constants, the .ptd file of the same stem in its folder is read.
[[nodiscard]] result<loaded_model> load_model_with_data(const std::string& path, const std::string& method,
    const std::string& data, const size_choices& choices = {});

}  // namespace headrace

#endif
