// SPDX-License-Identifier: MIT
// Defines headrace::pt2::weight_store, the parameters, buffers and constants of a .pt2 archive, viewed in
// place.
#ifndef HEADRACE_IO_PT2_WEIGHTS_HPP
#define HEADRACE_IO_PT2_WEIGHTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <headrace/base/name_table.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/file/zip_archive.hpp>
#include <headrace/io/pt2/pickle.hpp>
#include <headrace/io/pt2/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// A weight: the address of its first element, and the layout of all of them.
struct weight {
    tensor_layout layout;
    const std::byte* bytes = nullptr;
};

/// Weights by their fully qualified names. An entry is read, and its checksum compared, when one of its
/// weights is first requested: weights that the program does not use cost nothing.
class weight_store {
public:
    weight_store(const zip_archive& archive, std::span<const std::byte> file, std::string_view folder,
        json_parser& json, std::pmr::memory_resource* arena)
        : archive_(archive), file_(file), folder_(folder), json_(json), configs_(arena), entries_(arena) {}

    /// Reads `data/<kind>/<model>_<kind>_config.json`, if the archive has it.
    void add_config(std::string_view kind, std::string_view model) {
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

    /// Reads the entry of that name, written by torch.save, if the archive has it: torch stored weights this
    /// way until 2.8.
    void add_pickle(const std::string& name) {
        const zip_entry* entry = archive_.find(name);
        if (entry == nullptr || entry->size == 0) return;
        try {
            pickles_.emplace_back(bytes_of(*entry));
        } catch (failure& f) {
            f.what = f.what.in(name);
            throw;
        }
    }

    /// Returns the weight of that name.
    [[nodiscard]] weight load(std::string_view fqn, graph& g) {
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
            fail_malformed("its data is pickled, which is done only for classes other than torch.Tensor");
        }
        const auto meta = json_get<simdjson::dom::object>(entry, "tensor_meta");
        const std::string path =
            std::string(found->folder) + std::string(json_get<std::string_view>(entry, "path_name"));
        weight loaded{read_layout(meta, symbol_table()), nullptr};  // weights have fixed sizes
        loaded.bytes = place(loaded.layout, file_of(archive_, path, g), path);
        return loaded;
    }

    [[nodiscard]] std::span<const std::byte> bytes_of(const zip_entry& entry) const {
        auto viewed = archive_.view(entry);
        if (!viewed) throw failure{viewed.error()};
        return viewed.value();
    }

private:
    struct config {
        std::string_view text;
        std::string_view folder;
    };
    /// A zip archive inside the archive.
    struct pickle {
        explicit pickle(std::span<const std::byte> bytes) : archive(opened(bytes)) {
            for (const zip_entry& e : archive.entries()) {
                constexpr std::string_view file = "data.pkl";
                if (!e.name.ends_with(file)) continue;
                folder = e.name.substr(0, e.name.size() - file.size());
                auto text = archive.view(e);
                if (!text) throw failure{text.error()};
                tensors.emplace(text.value());
                return;
            }
            fail_malformed("has no data.pkl");
        }
        static zip_archive opened(std::span<const std::byte> bytes) {
            auto archive = zip_archive::open(bytes);
            if (!archive) throw failure{archive.error()};
            return std::move(archive).value();
        }

        zip_archive archive;
        std::string folder{};
        std::optional<pickled_tensors> tensors{};
    };

    // PyTorch aligns entries to 64 bytes. If another writer does not, the entry is copied once, into the
    // graph, so that every element can be read through a pointer to its type.
    [[nodiscard]] std::span<const std::byte> file_of(
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

    // Returns the index after the last element that the layout reaches, counted from the start of the
    // storage.
    static std::uint64_t extent_of(const tensor_layout& layout) {
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

    static const std::byte* place(
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
            fail_malformed("it reaches to element " + std::to_string(extent) + " of entry " +
                in_quotes(path) + ", which has " + std::to_string(bytes.size()) + " bytes");
        }
        return bytes.data() + static_cast<std::uint64_t>(layout.offset) * width;
    }

    const zip_archive& archive_;
    std::span<const std::byte> file_;
    std::string folder_;
    json_parser& json_;
    std::deque<padded_text> texts_;
    std::deque<std::string> folders_;
    name_table<config> configs_;
    std::pmr::unordered_map<const zip_entry*, std::span<const std::byte>> entries_;
    std::deque<pickle> pickles_;
};

}  // namespace headrace::pt2

#endif
