// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/tosa/stream.hpp.

#include <headrace/io/tosa/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <headrace/io/file/os.hpp>
#include <headrace/io/tosa/deferred_constant.hpp>
#include <headrace/io/tosa/graph_emitter.hpp>

namespace headrace {

namespace tosa_file {

namespace {

/// Reserved addresses: only pages that are written to take memory.
class reserved_memory final : public flatbuffers::Allocator {
public:
    std::uint8_t* allocate(std::size_t bytes) override {
        void* const at = os::reserve_memory(bytes);
        if (at == nullptr) throw std::bad_alloc();
        return static_cast<std::uint8_t*>(at);
    }
    void deallocate(std::uint8_t* at, std::size_t bytes) override { os::release_memory(at, bytes); }
};

}  // namespace

}  // namespace tosa_file

bool streamed_tosa::write_to(const std::function<bool(std::span<const std::byte>)>& sink) const {
    const std::span<const std::byte> made(reinterpret_cast<const std::byte*>(buffer_.data()), buffer_.size());
    tosa_file::element_streamer elements(sink);
    std::size_t done = 0;
    // Flatbuffers are built from the back: the constant that was added last comes first.
    for (std::size_t i = constants_.size(); i-- != 0;) {
        const tosa_file::deferred_constant& c = constants_[i];
        const std::size_t at = made.size() - c.from_end;
        if (!sink(made.subspan(done, at - done)) || !elements.give(c.data, c.meta)) return false;
        done = at + bytes_in_memory(c.meta);
    }
    return sink(made.subspan(done));
}

result<streamed_tosa> stream_tosa(const graph& g) {
    auto memory = std::make_unique<tosa_file::reserved_memory>();
    std::vector<tosa_file::deferred_constant> constants;
    HEADRACE_TRY(buffer, tosa_file::tosa_emitter::emit_without_constants(g, *memory, constants));
    return streamed_tosa(std::move(memory), std::move(buffer), std::move(constants));
}

}  // namespace headrace
