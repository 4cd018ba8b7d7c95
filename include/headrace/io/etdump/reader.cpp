// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/etdump/reader.hpp.

#include <headrace/io/etdump/reader.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include <headrace/base/strings.hpp>
#include <headrace/io/etdump/etdump_generated.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

namespace {

constexpr std::size_t prefix_bytes = 4;
constexpr std::size_t identifier_at = 4;
// Names of events that measure a whole instruction; the runtime measures its kernel as well.
constexpr std::string_view whole_instructions[] = {"OPERATOR_CALL", "DELEGATE_CALL"};

bool has_identifier(std::span<const std::byte> file, std::size_t prefix) {
    const std::string_view identifier = etdump_fb::DumpIdentifier();
    const std::size_t at = prefix + identifier_at;
    return file.size() >= at + identifier.size() &&
        std::memcmp(file.data() + at, identifier.data(), identifier.size()) == 0;
}

/// Reads the events of a run.
class event_reader {
public:
    explicit event_reader(std::span<const std::byte> buffer) : buffer_(buffer) {}

    [[nodiscard]] result<void> add(const etdump_fb::Event& event) {
        if (const auto* const debug = event.debug(); debug != nullptr && !buffer_.empty()) {
            HEADRACE_TRY(add_debug(*debug));
        }
        if (const auto* const profile = event.profile()) add_profile(*profile);
        return {};
    }
    [[nodiscard]] etdump& done() { return done_; }

private:
    [[nodiscard]] static bool is_of_instruction(std::uint64_t chain, std::int32_t instruction,
        std::int32_t delegate_number, const flatbuffers::String* delegate_name) {
        return chain == 0 && instruction >= 0 && delegate_number == -1 &&
            (delegate_name == nullptr || delegate_name->size() == 0);
    }

    [[nodiscard]] result<void> add_debug(const etdump_fb::DebugEvent& e) {
        if (!is_of_instruction(e.chain(), e.instruction(), e.delegate_number(), e.delegate_name()) ||
            e.entry() == nullptr)
            return {};
        const auto instruction = static_cast<std::uint32_t>(e.instruction());
        if (const auto* const one = e.entry()->tensor()) {
            HEADRACE_TRY(add_tensor(instruction, *one));
        } else if (const auto* const list = e.entry()->tensor_list(); list && list->tensors()) {
            for (const etdump_fb::Tensor* const t : *list->tensors()) {
                HEADRACE_TRY(add_tensor(instruction, *t));
            }
        }
        return {};
    }

    [[nodiscard]] result<void> add_tensor(std::uint32_t instruction, const etdump_fb::Tensor& t) {
        etdump_tensor made{.instruction = instruction, .type = pte::dtype_of(t.scalar_type())};
        const auto fault = [&](std::string_view text) {
            return malformed({"a tensor of instruction ", instruction, text});
        };
        for (const etdump_tensor& other : done_.tensors) made.result += other.instruction == instruction;
        if (made.type == dtype::unknown) return fault(": its type is not known");
        std::uint64_t bytes = traits_of(made.type).bits / 8U;
        if (t.sizes() != nullptr) {
            if (!pte::is_readable(t.sizes())) return fault(": its sizes are not readable");
            for (const std::int64_t size : *t.sizes()) {
                if (size < 0 || (size != 0 && bytes > buffer_.size() / static_cast<std::uint64_t>(size)))
                    return fault(" is larger than the debug buffer");
                bytes *= static_cast<std::uint64_t>(size);
            }
        }
        made.offset = static_cast<std::uint64_t>(t.offset());
        if (t.offset() < 0 || made.offset > buffer_.size() || bytes > buffer_.size() - made.offset)
            return fault(" ends behind the debug buffer: it was cut off, or is that of another run");
        made.bytes = buffer_.subspan(static_cast<std::size_t>(made.offset), static_cast<std::size_t>(bytes));
        done_.tensors.push_back(made);
        return {};
    }

    void add_profile(const etdump_fb::ProfileEvent& e) {
        const bool is_whole = e.name() != nullptr &&
            std::ranges::find(whole_instructions, e.name()->string_view()) != std::end(whole_instructions);
        if (!is_whole || e.chain() < 0 || e.end() < e.begin() ||
            !is_of_instruction(static_cast<std::uint64_t>(e.chain()), e.instruction(), e.delegate_number(),
                e.delegate_name()))
            return;
        done_.times.push_back({static_cast<std::uint32_t>(e.instruction()), e.end() - e.begin()});
    }

    std::span<const std::byte> buffer_;
    etdump done_;
};

}  // namespace

bool is_etdump(std::span<const std::byte> file) {
    return has_identifier(file, 0) || has_identifier(file, prefix_bytes);
}

result<etdump> read_etdump(std::span<const std::byte> file, std::span<const std::byte> buffer) {
    if (!is_etdump(file)) return malformed("it is no etdump: its identifier is not ED00");
    // A copy is aligned as the flatbuffer's numbers need it.
    std::vector<std::uint64_t> aligned(file.size() / sizeof(std::uint64_t) + 1);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(aligned.data());
    std::memcpy(aligned.data(), file.data(), file.size());
    flatbuffers::Verifier verifier(bytes, file.size());
    const bool has_size =
        has_identifier(file, prefix_bytes);  // before the flatbuffer, which counts for alignment
    if (!(has_size ? etdump_fb::VerifySizePrefixedDumpBuffer(verifier)
                   : etdump_fb::VerifyDumpBuffer(verifier)))
        return malformed("its flatbuffer is not sound; the file may be cut off");
    etdump last;
    const auto* const runs =
        (has_size ? etdump_fb::GetSizePrefixedDump(bytes) : etdump_fb::GetDump(bytes))->runs();
    for (std::uint32_t i = 0; runs != nullptr && i != runs->size(); ++i) {
        if (runs->Get(i)->events() == nullptr) continue;
        event_reader read(buffer);
        for (const etdump_fb::Event* const event : *runs->Get(i)->events()) {
            HEADRACE_TRY(read.add(*event));
        }
        if (!read.done().tensors.empty() || !read.done().times.empty()) last = std::move(read.done());
    }
    if (last.tensors.empty() && last.times.empty())
        return malformed("it has no event of an instruction: the runtime was built without its event tracer");
    return last;
}

}  // namespace headrace
