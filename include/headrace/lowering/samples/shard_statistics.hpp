// SPDX-License-Identifier: MIT
// Declares headrace::statistics_writer and headrace::statistics_reader, files of what observers are fed.
#ifndef HEADRACE_LOWERING_SAMPLES_SHARD_STATISTICS_HPP
#define HEADRACE_LOWERING_SAMPLES_SHARD_STATISTICS_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/quantization/observers/observe.hpp>

namespace headrace {

/// Returns a number that tells float programs apart: of their nodes, types and constants.
[[nodiscard]] std::uint64_t fingerprint_of(graph& g);

/// Writes what observers are fed, sample by sample. A file of them has, in little-endian order:
///
///     char[24] "headrace statistics 1\n", filled up with zeros
///     u64      hash of the program and of the observed values
///     u64      number of samples; u64: number of values for each
///     for each sample and value:
///         six float32 (the smallest and largest number that has extent, that is finite without, of all)
///         u64 NaNs, u64 infinities, u64 numbers, u64 kept numbers, and these as float32
///     u32      CRC-32 of all bytes before
///
/// Numbers are kept for observers whose ranges depend on more than the smallest and the largest of each
/// tensor.
class statistics_writer {
public:
    explicit statistics_writer(byte_sink sink) : sink_(std::move(sink)) {}

    /// Returns functions that write to the sink, for a program's fingerprint. This object must outlive them.
    [[nodiscard]] sample_statistics statistics(std::uint64_t program, std::size_t samples);
    /// Writes the end of the file. An error if not all samples have been recorded.
    [[nodiscard]] result<void> end();

private:
    void write(std::span<const std::byte> bytes);
    result<void> begin(std::string_view points);
    result<void> record(const std::vector<observed_values>& values);

    byte_sink sink_;
    std::uint64_t program_ = 0;
    std::size_t samples_ = 0;
    std::size_t points_ = 0;
    std::size_t recorded_ = 0;
    std::uint32_t checksum_ = 0;
    bool is_begun_ = false;
};

/// Reads files of statistics, whose samples follow one another in the order of the files.
class statistics_reader {
public:
    /// Opens and checks the files. Errors name a file that is damaged, of another version, or of another
    /// program or other options than the first.
    [[nodiscard]] static result<statistics_reader> open(const std::vector<std::string>& paths);

    [[nodiscard]] std::size_t samples() const { return begins_.size(); }
    /// Returns functions that read, and that check what was observed against the program. This object must
    /// outlive them.
    [[nodiscard]] sample_statistics statistics(std::uint64_t program) const;

private:
    result<void> add(const std::string& path);
    [[nodiscard]] std::vector<observed_values> at(std::size_t sample) const;

    std::vector<mapped_file> files_;
    std::vector<std::string> paths_;
    std::vector<std::span<const std::byte>> begins_;  // of samples
    std::uint64_t key_ = 0;
    std::size_t points_ = 0;
};

}  // namespace headrace

#endif
