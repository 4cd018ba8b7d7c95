// SPDX-License-Identifier: MIT
// Defines headrace::pt2::weight_store, the parameters, buffers and constants of a .pt2 archive, viewed in
// place.
#ifndef HEADRACE_IO_PT2_WEIGHTS_HPP
#define HEADRACE_IO_PT2_WEIGHTS_HPP

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
        json_parser& json, std::pmr::memory_resource* arena);

    /// Reads `data/<kind>/<model>_<kind>_config.json`, if the archive has it.
    void add_config(std::string_view kind, std::string_view model);

    /// Reads the entry of that name, written by torch.save, if the archive has it: torch stored weights this
    /// way until 2.8.
    void add_pickle(const std::string& name);

    /// Returns the weight of that name.
    [[nodiscard]] weight load(std::string_view fqn, graph& g);

    [[nodiscard]] std::span<const std::byte> bytes_of(const zip_entry& entry) const;

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
        const zip_archive& archive, const std::string& path, graph& g);

    // Returns the index after the last element that the layout reaches, counted from the start of the
    // storage.
    static std::uint64_t extent_of(const tensor_layout& layout);

    static const std::byte* place(
        const tensor_layout& layout, std::span<const std::byte> bytes, const std::string& path);

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
