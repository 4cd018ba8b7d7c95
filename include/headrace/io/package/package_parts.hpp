// SPDX-License-Identifier: MIT
// Defines headrace::package_method and headrace::package_delegate, the parts of a package.
#ifndef HEADRACE_IO_PACKAGE_PACKAGE_PARTS_HPP
#define HEADRACE_IO_PACKAGE_PACKAGE_PARTS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// A package is a directory:
//
//     manifest.json    lists the files below, and the methods
//     constants.bin    each distinct constant once; constants with the external tag T are in T.bin
//     NAME.delegate    a flatbuffer without its constants (io/tosa/delegate.hpp)
//     NAME.hr          the host graph of a method that is not one delegate (io/text/graph_text.hpp); @N in
//                     it is entry N of the manifest's data, or of its delegates for a nested graph

/// A node of a host graph, and why it is in no delegate.
struct host_note {
    std::string node;
    std::string op;
    std::string reason;
    std::string source{};  ///< "net.py:42", the line of the model's source, or empty
};

/// A method of a package: a delegate, or a host graph that calls delegates.
struct package_method {
    std::optional<std::size_t> delegate{};
    std::string host{};  ///< the file of the host graph, or empty
    std::size_t user_outputs = 0;
    std::vector<std::size_t> calls{};  ///< delegates that the host graph calls
    std::vector<host_note> notes{};
    std::string io{};  ///< JSON of its interface, as made by the caller
};

struct package_delegate {
    std::string file;
    std::string backend;
    std::uint64_t size = 0;         ///< of the whole flatbuffer
    std::uint64_t hash = 0;         ///< of the whole flatbuffer
    std::vector<std::size_t> data;  ///< its constants, in the order of the flatbuffer
};

/// True if a file in a package, or a method, can have that name: it consists of letters, digits, '_', '-' and
/// '.', and cannot lead out of the directory.
[[nodiscard]] bool is_plain_name(std::string_view name);

namespace package_file {

inline constexpr std::string_view format = "headrace package";
inline constexpr std::int64_t version = 2;  // 1: host graphs were JSON
inline constexpr std::string_view manifest_name = "manifest.json";

}  // namespace package_file

}  // namespace headrace

#endif
