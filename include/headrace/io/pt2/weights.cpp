// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/weights.hpp.

#include <headrace/io/pt2/weights.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/name_table.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/file/zip_archive.hpp>
#include <headrace/io/pt2/pickle.hpp>
#include <headrace/io/pt2/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

weight_store::weight_store(const zip_archive& archive, std::span<const std::byte> file,
    std::string_view folder, json_parser& json, std::pmr::memory_resource* arena)
    : archive_(archive), file_(file), folder_(folder), json_(json), configs_(arena), entries_(arena) {}

void weight_store::add_config(std::string_view kind, std::string_view model) {
    const std::string place = folder_ + "data/" + std::string(kind) + "/";
    const std::string name = place + std::string(model) + "_" + std::string(kind) + "_config.json";
    const zip_entry* entry = archive_.find(name);
    if (entry == nullptr) return;
    texts_.emplace_back(bytes_of(*entry), file_);
    folders_.push_back(place);
    json_cursor at(texts_.back().view());
    configs_.reserve(configs_.size() + texts_.back().view().size() / 256);
    at.members([&](std::string_view key) {
        if (key != "config") return static_cast<void>(at.skip());
        at.members([&](std::string_view fqn) {
            const std::string_view name_of_weight = json_.text(fqn);
            if (!configs_.try_emplace(name_of_weight, {at.skip(), folders_.back()}).second) {
                fail_malformed(name + ": names the weight " + in_quotes(name_of_weight) + " twice");
            }
        });
    });
    at.finish();
}

void weight_store::add_pickle(const std::string& name) {
    const zip_entry* entry = archive_.find(name);
    if (entry == nullptr || entry->size == 0) return;
    try {
        pickles_.emplace_back(bytes_of(*entry));
    } catch (failure& f) {
        f.what = f.what.in(name);
        throw;
    }
}

weight weight_store::load(std::string_view fqn, graph& g) {
    for (pickle& p : pickles_) {
        if (!p.tensors->contains(fqn)) continue;
        const pickled_tensor t = p.tensors->tensor(fqn);
        const std::string path = p.folder + "data/" + std::string(t.storage);
        return {t.layout, place(t.layout, file_of(p.archive, path, g), path)};
    }
    const config* found = configs_.find(fqn);
    if (found == nullptr) fail_malformed("the archive has no data for it, " + in_quotes(fqn));
    const simdjson::dom::object entry = json_.parse_object(found->text);
    bool pickled = false;
    if (entry["use_pickle"].get(pickled) == simdjson::SUCCESS && pickled) {
        fail_malformed(
            "its data is pickled, as for no torch.Tensor but other classes; save "
            "exported.run_decompositions(), which has torchao's tensors as their parts");
    }
    const auto meta = json_get<simdjson::dom::object>(entry, "tensor_meta");
    const std::string path =
        std::string(found->folder) + std::string(json_get<std::string_view>(entry, "path_name"));
    weight loaded{read_layout(meta, symbol_table()), nullptr};  // weights have fixed sizes
    loaded.bytes = place(loaded.layout, file_of(archive_, path, g), path);
    return loaded;
}

std::span<const std::byte> weight_store::bytes_of(const zip_entry& entry) const {
    auto viewed = archive_.view(entry);
    if (!viewed) throw failure{viewed.error()};
    return viewed.value();
}

std::span<const std::byte> weight_store::file_of(
    const zip_archive& archive, const std::string& path, graph& g) {
    constexpr std::uintptr_t widest_element = 16;
    const zip_entry* entry = archive.find(path);
    if (entry == nullptr) fail_malformed("the archive has no entry " + in_quotes(path));
    const auto known = entries_.find(entry);
    if (known != entries_.end()) return known->second;
    auto viewed = archive.view(*entry);
    if (!viewed) throw failure{viewed.error()};
    std::span<const std::byte> bytes = viewed.value();
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % widest_element != 0) {
        const std::span<std::byte> copy = g.allocate_data(bytes.size());
        std::copy(bytes.begin(), bytes.end(), copy.begin());
        bytes = copy;
    }
    return entries_.try_emplace(entry, bytes).first->second;
}

std::uint64_t weight_store::extent_of(const tensor_layout& layout) {
    std::int64_t last = layout.offset;
    for (std::size_t i = 0; i != layout.sizes.count; ++i) {
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(layout.size(i) - 1, layout.stride(i), &reach) ||
            __builtin_add_overflow(last, reach, &last)) {
            fail_malformed("its strides reach too far");
        }
    }
    return static_cast<std::uint64_t>(last) + 1;
}

const std::byte* weight_store::place(
    const tensor_layout& layout, std::span<const std::byte> bytes, const std::string& path) {
    if (layout.elements == 0) return bytes.data();
    const std::uint64_t width = storage_bytes(layout.dtype, 1);
    // Strides of 0 can stretch a few bytes to a tensor of any size.
    constexpr std::uint64_t max_stretched = std::uint64_t{1} << 28;
    const auto elements = static_cast<std::uint64_t>(layout.elements);
    if (elements > bytes.size() / width && elements > max_stretched / width)
        fail_malformed("its strides make more than " + std::to_string(max_stretched) + " bytes of " +
            std::to_string(bytes.size()));
    const std::uint64_t extent = extent_of(layout);
    if (extent > bytes.size() / width) {
        fail_malformed("it reaches to element " + std::to_string(extent) + " of entry " + in_quotes(path) +
            ", which has " + std::to_string(bytes.size()) + " bytes");
    }
    return bytes.data() + static_cast<std::uint64_t>(layout.offset) * width;
}

}  // namespace headrace::pt2
