// SPDX-License-Identifier: MIT
// Declares headrace::firmware::write_c_interface: a model as one C function.
#ifndef HEADRACE_FIRMWARE_C_INTERFACE_HPP
#define HEADRACE_FIRMWARE_C_INTERFACE_HPP

#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/firmware/header.hpp>

namespace headrace::firmware {

/// A C++ source with `extern "C" int NAME_run(void* arena, inputs…, outputs…)`, and the C header that
/// declares it with the sizes and the quantization of its tensors as macros.
struct c_interface {
    std::string source, header;
};

/// `header_name` is what the source includes. An error if the model has a state, which a function has no
/// place for.
[[nodiscard]] result<c_interface> write_c_interface(
    const model_header& model, const header_options& options, std::string_view header_name);

}  // namespace headrace::firmware

#endif
