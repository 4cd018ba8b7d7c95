// SPDX-License-Identifier: MIT
// Declares headrace::make_ethos_u_blob, which turns Vela's output into what ExecuTorch's Ethos-U backend
// takes.
#ifndef HEADRACE_IO_VELA_ETHOS_U_BLOB_HPP
#define HEADRACE_IO_VELA_ETHOS_U_BLOB_HPP

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>

namespace headrace {

/// The backend's name in the runtime.
inline constexpr std::string_view ethos_u_backend_id = "EthosUBackend";

/// Returns the blocks of a model that Vela wrote with `--output-format raw`. Errors do not name the file.
[[nodiscard]] result<std::vector<std::byte>> make_ethos_u_blob(std::span<const std::byte> vela);

}  // namespace headrace

#endif
