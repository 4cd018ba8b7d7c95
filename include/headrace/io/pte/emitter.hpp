// SPDX-License-Identifier: MIT
// Declares headrace::emit_pte, which writes graphs of ExecuTorch's kernels as a program for its runtime.
#ifndef HEADRACE_IO_PTE_EMITTER_HPP
#define HEADRACE_IO_PTE_EMITTER_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace {

/// A .pte file whose constants are still in the graphs' memory, which must outlive it unchanged.
class emitted_pte {
public:
    /// Returns the size of the file in bytes.
    [[nodiscard]] std::uint64_t size() const { return segment_base_ + segment_bytes_; }
    [[nodiscard]] std::uint64_t constant_bytes() const { return constant_bytes_; }
    /// Returns the bytes of the delegates, without the constants of "tosa".
    [[nodiscard]] std::uint64_t delegate_bytes() const { return delegate_bytes_; }
    [[nodiscard]] std::span<const pte_method_size> methods() const { return methods_; }
    /// Passes all bytes, from first to last, to `sink(bytes) -> bool`. Returns false as soon as the sink
    /// does.
    [[nodiscard]] bool write_to(const std::function<bool(std::span<const std::byte>)>& sink) const;

private:
    friend class pte_file_writer;

    std::vector<std::byte> head_;  // the flatbuffer, with its header
    std::uint64_t segment_base_ = 0;
    std::uint64_t segment_bytes_ = 0;
    std::uint64_t constant_bytes_ = 0;
    std::uint64_t delegate_bytes_ = 0;
    std::vector<pte::segment_part> parts_;
    std::deque<std::vector<std::byte>> copies_;  // of constants that are not row-major
    std::deque<std::vector<std::byte>> initial_copies_;
    std::deque<std::vector<std::byte>> blobs_;  // of delegates
    std::vector<pte_method_size> methods_;
};

/// Writes methods, in the order of their names, with each distinct constant and each distinct delegate once.
/// The runtime offers `data`, whose buffers must outlive the result, to the backends by key: each buffer is a
/// segment. The result has been verified. Errors name the method or the key.
[[nodiscard]] result<emitted_pte> emit_pte(
    std::span<const pte_method> methods, const named_data_store_output& data = {});

}  // namespace headrace

#endif
