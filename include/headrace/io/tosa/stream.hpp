// SPDX-License-Identifier: MIT
// Declares headrace::stream_tosa, which makes a TOSA flatbuffer without copying the graph's constants.
#ifndef HEADRACE_IO_TOSA_STREAM_HPP
#define HEADRACE_IO_TOSA_STREAM_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <flatbuffers/flatbuffers.h>

#include <headrace/base/result.hpp>
#include <headrace/io/tosa/deferred_constant.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// A TOSA flatbuffer whose large constants are still in the graph's memory, such as a mapped file. The graph
/// must outlive it unchanged.
class streamed_tosa {
public:
    streamed_tosa(std::unique_ptr<flatbuffers::Allocator> memory, flatbuffers::DetachedBuffer buffer,
        std::vector<tosa_file::deferred_constant> constants)
        : memory_(std::move(memory)), buffer_(std::move(buffer)), constants_(std::move(constants)) {}

    /// Returns the size of the file in bytes.
    [[nodiscard]] std::size_t size() const { return buffer_.size(); }
    /// Passes the bytes that emit_tosa would write, from first to last, to `sink(bytes) -> bool`. Constants
    /// that are not row-major are copied in parts. Returns false as soon as the sink does.
    [[nodiscard]] bool write_to(const std::function<bool(std::span<const std::byte>)>& sink) const;

private:
    std::unique_ptr<flatbuffers::Allocator> memory_;  // outlives the buffer, which frees it
    flatbuffers::DetachedBuffer buffer_;              // has holes in place of constants
    std::vector<tosa_file::deferred_constant> constants_;
};

/// Returns the file that emit_tosa would write, with the same errors, as a stream.
[[nodiscard]] result<streamed_tosa> stream_tosa(const graph& g);

}  // namespace headrace

#endif
