// SPDX-License-Identifier: MIT
// Defines headrace::package, which reads a directory that headrace::package_writer wrote.
#ifndef HEADRACE_IO_PACKAGE_PACKAGE_HPP
#define HEADRACE_IO_PACKAGE_PACKAGE_HPP

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/package/package_parts.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/text/sources.hpp>

namespace headrace {

class graph;

/// An open package. Whatever its files hold, reading gives valid parts, or an error.
class package {
public:
    /// True if the path is a directory; open() tells whether it is a package.
    [[nodiscard]] static bool is_package(const std::filesystem::path& directory);

    [[nodiscard]] static result<package> open(const std::filesystem::path& directory);

    /// Returns an error if a file of constants has become shorter since the package was opened, see
    /// mapped_file.
    [[nodiscard]] result<void> check() const;

    [[nodiscard]] const std::map<std::string, package_method, std::less<>>& methods() const {
        return methods_;
    }
    [[nodiscard]] const std::vector<package_delegate>& delegates() const { return delegates_; }

    /// Returns the method of that name, or the only one if the name is empty.
    [[nodiscard]] result<const package_method*> method(std::string_view name) const;

    /// Returns the flatbuffer of a delegate, as it was before it was split.
    [[nodiscard]] result<std::vector<std::byte>> flatbuffer(std::size_t number) const;

    /// Fills a region with the program of a flatbuffer.
    using delegate_reader = std::function<result<void>(std::span<const std::byte> flatbuffer, graph& region)>;

    /// Reads the host graph of a method. Constants view the package. `find_own_op` finds ops of dialects that
    /// are not Headrace's, also those that were opaque.
    [[nodiscard]] result<program> read_host(const package_method& m, const delegate_reader& read_delegate,
        op_finder find_own_op = nullptr) const;

private:
    class manifest_reader;

    std::filesystem::path directory_;
    std::vector<mapped_file> files_;
    std::vector<std::span<const std::byte>> data_;
    std::vector<package_delegate> delegates_;
    std::map<std::string, package_method, std::less<>> methods_;
};

}  // namespace headrace

#endif
