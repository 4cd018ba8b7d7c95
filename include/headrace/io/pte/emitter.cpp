// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/emitter.hpp.

#include <headrace/io/pte/emitter.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/pte/writing/method_writer.hpp>
#include <headrace/io/pte/writing/named_data.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace {

/// Writes a file: its flatbuffer, then the header into it, then the segments after it.
class pte_file_writer {
public:
    static result<emitted_pte> write(
        std::span<const pte_method> methods, const named_data_store_output& data) {
        pte_file_writer w;
        HEADRACE_TRY(w.named_.add(data));
        HEADRACE_TRY(w.write_flatbuffer(methods));
        w.insert_header();
        w.take_parts();
        return std::move(w.file_);
    }

private:
    using header = pte::extended_header;

    result<void> write_flatbuffer(std::span<const pte_method> methods) {
        std::vector<const pte_method*> sorted;
        for (const pte_method& m : methods) sorted.push_back(&m);
        std::ranges::stable_sort(sorted, {}, [](const pte_method* m) { return m->name; });
        std::vector<flatbuffers::Offset<pte_fb::Method>> written;
        for (const pte_method* const m : sorted) {
            if (m != sorted.front() && m->name == sorted[written.size() - 1]->name)
                return invalid({"two methods are called '", m->name, "'"});
            pte_method_size size;
            auto method = pte::method_writer(builder_, pools_, *m).write(m->name, size);
            if (!method) return method.error().in("method " + std::string(m->name));
            written.push_back(method.value());
            file_.methods_.push_back(std::move(size));
        }
        const auto all_segments = write_segments();
        const auto constants =
            pte_fb::CreateOffsets(builder_, 0, builder_.CreateVector(pools_.constants.offsets()));
        const auto all_methods = builder_.CreateVector(written);
        flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<pte_fb::Offsets>>> initial;
        if (pools_.initial.bytes() != 0) {
            const auto segment = static_cast<std::uint32_t>(pools_.delegates.parts().size() + 1);
            const auto offsets = builder_.CreateVector(pools_.initial.offsets());
            initial = builder_.CreateVector(std::vector{pte_fb::CreateOffsets(builder_, segment, offsets)});
        }
        const auto named = write_named_data();
        pte_fb::FinishProgramBuffer(builder_,
            pte_fb::CreateProgram(builder_, 0, all_methods, 0, 0, all_segments, constants, initial, named));
        flatbuffers::Verifier verifier(builder_.GetBufferPointer(), builder_.GetSize(), 64,
            std::numeric_limits<flatbuffers::uoffset_t>::max());
        if (!pte_fb::VerifyProgramBuffer(verifier))
            return invalid("the program that was written is malformed");
        return {};
    }

    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<pte_fb::NamedData>>> write_named_data() {
        std::vector<flatbuffers::Offset<pte_fb::NamedData>> written;
        if (pools_.delegates.share_constants()) {
            const auto key = builder_.CreateString(pte::shared_constants_key);
            written.push_back(pte_fb::CreateNamedData(builder_, key, 0));
        }
        for (const auto& [key, part] : named_.keys())
            written.push_back(
                pte_fb::CreateNamedData(builder_, builder_.CreateString(key), first_named_ + part));
        if (written.empty()) return 0;
        return builder_.CreateVector(written);
    }

    // Constants come first, then delegates, the initial values of states, and named data.
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<pte_fb::Segment>>> write_segments() {
        pools_.delegates.place_behind(pools_.constants.bytes());
        segment_bytes_ = pools_.delegates.end_of_parts();
        std::vector segments{pte_fb::CreateSegment(builder_, 0, pools_.constants.bytes())};
        for (const pte::segment_part& p : pools_.delegates.parts())
            segments.push_back(pte_fb::CreateSegment(builder_, p.offset, p.bytes.size()));
        if (pools_.initial.bytes() != 0) {
            initial_at_ = pte::next_segment(segment_bytes_);
            segments.push_back(pte_fb::CreateSegment(builder_, initial_at_, pools_.initial.bytes()));
            segment_bytes_ = initial_at_ + pools_.initial.bytes();
        }
        first_named_ = static_cast<std::uint32_t>(segments.size());
        named_.place_behind(segment_bytes_);
        segment_bytes_ = named_.end_of_parts();
        for (const pte::segment_part& p : named_.parts())
            segments.push_back(pte_fb::CreateSegment(builder_, p.offset, p.bytes.size()));
        return builder_.CreateVector(segments);
    }
    void take_parts() {
        file_.parts_ = pools_.constants.take_parts();
        for (const pte::segment_part& p : pools_.delegates.parts()) file_.parts_.push_back(p);
        for (const pte::segment_part& p : pools_.initial.take_parts())
            file_.parts_.push_back({initial_at_ + p.offset, p.bytes});
        for (const pte::segment_part& p : named_.parts()) file_.parts_.push_back(p);
        file_.blobs_ = pools_.delegates.take_blobs();
        file_.copies_ = pools_.constants.take_copies();
        file_.initial_copies_ = pools_.initial.take_copies();
    }

    // The runtime looks for a segment only if there is a header, even if the segment is empty.
    [[nodiscard]] bool has_segments() const {
        return segment_bytes_ != 0 || !pools_.delegates.parts().empty() || !named_.parts().empty();
    }

    // A file without segments is the flatbuffer alone.
    void insert_header() {
        const std::span<const std::byte> made = std::as_bytes(builder_.GetBufferSpan());
        file_.constant_bytes_ = pools_.constants.bytes();
        file_.delegate_bytes_ = pools_.delegates.bytes();
        file_.segment_bytes_ = segment_bytes_;
        if (!has_segments()) {
            file_.head_.assign(made.begin(), made.end());
            file_.segment_base_ = made.size();
            return;
        }
        using pte::put_little_endian;
        std::vector<std::byte>& head = file_.head_;
        head.assign(made.begin(), made.begin() + header::at);
        const auto root = pte::get_little_endian<std::uint32_t>(made);
        put_little_endian<std::uint32_t>(root + header::bytes, head);
        head.resize(header::at + header::bytes);
        head.insert(head.end(), made.begin() + header::at, made.end());
        const std::uint64_t program = head.size();
        file_.segment_base_ = pte::next_segment(program, named_.alignment());
        const std::span<std::byte> at = std::span(head).subspan(header::at, header::bytes);
        std::memcpy(at.data(), header::magic.data(), header::magic.size());
        put_little_endian<std::uint32_t>(header::bytes, at.subspan(4));
        put_little_endian<std::uint64_t>(program, at.subspan(8));
        put_little_endian<std::uint64_t>(file_.segment_base_, at.subspan(16));
        put_little_endian<std::uint64_t>(file_.segment_bytes_, at.subspan(24));
    }

    flatbuffers::FlatBufferBuilder builder_;
    pte::file_pools pools_;
    pte::named_data_pool named_;
    std::uint64_t initial_at_ = 0;   // start of the segment of initial values
    std::uint32_t first_named_ = 0;  // number of the first segment of named data
    std::uint64_t segment_bytes_ = 0;
    emitted_pte file_;
};

bool emitted_pte::write_to(const std::function<bool(std::span<const std::byte>)>& sink) const {
    static constexpr std::array<std::byte, pte::segment_alignment> zeros{};
    if (!sink(head_)) return false;
    std::uint64_t at = head_.size();
    for (const pte::segment_part& p : parts_) {
        const std::uint64_t begin = segment_base_ + p.offset;
        while (begin - at > zeros.size()) {
            if (!sink(zeros)) return false;
            at += zeros.size();
        }
        if (!sink(std::span(zeros).first(static_cast<std::size_t>(begin - at))) || !sink(p.bytes))
            return false;
        at = begin + p.bytes.size();
    }
    return true;
}

result<emitted_pte> emit_pte(std::span<const pte_method> methods, const named_data_store_output& data) {
    return pte_file_writer::write(methods, data);
}

}  // namespace headrace
