// SPDX-License-Identifier: MIT
// Defines headrace::input_samples, the calibration samples of one input.
#ifndef HEADRACE_LOWERING_SAMPLES_INPUT_SAMPLES_HPP
#define HEADRACE_LOWERING_SAMPLES_INPUT_SAMPLES_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/lowering/samples/array_stream.hpp>

namespace headrace {

/// The samples of one input, in .npy files or from a stream. A file is read when one of its samples is
/// needed, and of many files few are in memory.
class input_samples {
public:
    /// The graph may be rewritten afterwards.
    explicit input_samples(const node& input);

    /// Adds the samples of a file, or of the files of a directory in the order of their names. An error names
    /// a file whose shape or dtype does not fit the input.
    [[nodiscard]] result<void> add(const std::string& path);
    /// Waits for an array of a stream and adds its samples; false at the end of the stream. An error names
    /// the sample.
    [[nodiscard]] result<bool> add_next(const std::shared_ptr<array_stream>& stream);

    [[nodiscard]] std::size_t size() const { return count_; }
    /// Returns a sample; may be called from several threads at once. An error names numbers that are no
    /// samples.
    [[nodiscard]] result<tensor> at(std::size_t i) const;
    /// Returns why the input can only be a mask: an infinite number in one of the samples that were returned.
    [[nodiscard]] std::optional<error> infinite() const;
    [[nodiscard]] std::string_view name() const { return name_; }

private:
    using file_bytes = std::shared_ptr<const std::vector<std::byte>>;
    struct sample_file {
        std::string path;
        std::size_t first;  // of its samples
        std::size_t count;
        dtype type;
        std::shared_ptr<array_stream> stream{};  // or null
        array_stream::array kept{};
    };

    [[nodiscard]] error unfit(const std::string& file, std::string_view what) const;
    [[nodiscard]] std::int64_t samples_in(const int_list& shape) const;
    [[nodiscard]] result<std::size_t> count_in(
        const std::string& place, dtype type, const int_list& shape) const;
    [[nodiscard]] result<void> add_file(const std::string& path);
    [[nodiscard]] result<file_bytes> bytes_of(const sample_file& file) const;
    [[nodiscard]] result<void> check_integers(
        const std::string& place, const tensor& given, const tensor& taken) const;
    [[nodiscard]] result<void> check_numbers(const std::string& place, std::size_t i, const tensor& t) const;

    dtype type_;
    std::vector<std::int64_t> shape_;
    std::string name_;
    std::vector<sample_file> files_;
    std::size_t count_ = 0;
    mutable std::mutex mutex_;
    mutable std::deque<std::pair<const sample_file*, file_bytes>> recent_;
    mutable std::optional<std::pair<std::size_t, error>> infinite_;
};

}  // namespace headrace

#endif
