// SPDX-License-Identifier: MIT
// Defines how the writer of .pte files stores the data of backends, each distinct one once.
#ifndef HEADRACE_IO_PTE_WRITING_DELEGATES_HPP
#define HEADRACE_IO_PTE_WRITING_DELEGATES_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/writing/constants.hpp>
#include <headrace/partition/compile_spec.hpp>

namespace headrace::pte {

/// The bytes of all delegates of a file. Each distinct one is a segment after that of the constants.
class delegate_pool {
public:
    /// Returns the number of the segment for a delegate's bytes. The constants of "tosa" are added to the
    /// host's.
    result<std::uint32_t> add(const pte_delegate& d, constant_pool& constants);

    /// Writes the table of a method's delegates, whose bytes are in these segments.
    [[nodiscard]] static auto write(flatbuffers::FlatBufferBuilder& builder,
        std::span<const pte_delegate> delegates, std::span<const std::uint32_t> segments) {
        std::vector<flatbuffers::Offset<pte_fb::Delegate>> written;
        for (std::size_t i = 0; i != delegates.size(); ++i) {
            const auto data =
                pte_fb::CreateDelegateData(builder, pte_fb::DelegateLocation::SEGMENT, segments[i]);
            const auto specs = write_specs(builder, delegates[i].specs);
            written.push_back(
                pte_fb::CreateDelegate(builder, builder.CreateString(delegates[i].id), data, specs));
        }
        return builder.CreateVector(written);
    }

    /// Lays out the segments; the first one follows the constants.
    void place_behind(std::uint64_t constant_bytes);

    [[nodiscard]] const std::vector<segment_part>& parts() const { return parts_; }
    /// Returns the end of the segments that have been laid out.
    [[nodiscard]] std::uint64_t end_of_parts() const { return end_; }
    [[nodiscard]] bool share_constants() const { return shares_constants_; }
    /// Returns the total bytes of the distinct delegates.
    [[nodiscard]] std::uint64_t bytes() const;
    [[nodiscard]] std::deque<std::vector<std::byte>> take_blobs() { return std::move(blobs_); }

private:
    using spec_table = flatbuffers::Vector<flatbuffers::Offset<pte_fb::CompileSpec>>;
    static flatbuffers::Offset<spec_table> write_specs(
        flatbuffers::FlatBufferBuilder& builder, const compile_specs& specs);
    result<std::uint32_t> segment_of(std::vector<std::byte> blob);

    std::unordered_map<std::string_view, std::uint32_t> segments_;  // by their bytes
    std::vector<segment_part> parts_;
    std::deque<std::vector<std::byte>> blobs_;
    std::uint64_t end_ = 0;
    bool shares_constants_ = false;
};

/// The data that the methods of a file share.
struct file_pools {
    constant_pool constants{};
    constant_pool initial{};  ///< initial values of states
    delegate_pool delegates{};
};

}  // namespace headrace::pte

#endif
