// SPDX-License-Identifier: MIT
// Defines the folder of programs that random_programs.py and cortex_m_programs.py execute in ExecuTorch's
// runtime.
#ifndef HEADRACE_TESTS_EXECUTORCH_PROGRAMS_PROGRAM_FOLDER_HPP
#define HEADRACE_TESTS_EXECUTORCH_PROGRAMS_PROGRAM_FOLDER_HPP

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/eval/tensor.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/io/pte/emitter.hpp>
#include <headrace/io/pte/reader.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/run/execution.hpp>

/// Writes programs into a folder. Program K is K.pte, with its inputs K.inI.npy, the results that are
/// expected, K.wantI.npy, the results of `headrace run` for the file, K.ranI.npy, and its listing, K.txt. A
/// file that Headrace cannot read or execute has K.fault instead of K.ranI.npy. The file `index` lists the
/// numbers of all programs, of their inputs and of their outputs.
class program_folder {
public:
    explicit program_folder(std::filesystem::path folder)
        : folder_(std::move(folder)), index_(folder_ / "index") {}

    /// Writes a program; true if there is a file now.
    bool write(const headrace::emitted_pte& file, std::string_view listed,
        const std::vector<headrace::tensor>& inputs, const std::vector<headrace::tensor>& expected) {
        const std::string name = std::to_string(count_);
        std::string bytes;
        const bool whole = file.write_to([&](std::span<const std::byte> part) {
            bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
            return true;
        });
        if (!whole) return false;
        std::ofstream(folder_ / (name + ".pte"), std::ios::binary) << bytes;
        std::ofstream(folder_ / (name + ".txt")) << listed;
        save(name + ".in", inputs);
        save(name + ".want", expected);
        if (const std::string fault = run(name, bytes, inputs); !fault.empty())
            std::ofstream(folder_ / (name + ".fault")) << fault;
        index_ << name << ' ' << inputs.size() << ' ' << expected.size() << '\n';
        ++count_;
        return true;
    }
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    void save(const std::string& prefix, const std::vector<headrace::tensor>& all) const {
        for (std::size_t i = 0; i != all.size(); ++i) {
            const std::filesystem::path path = folder_ / (prefix + std::to_string(i) + ".npy");
            const headrace::tensor_meta meta{all[i].type(), headrace::int_list(all[i].shape()), {}};
            if (const auto done = headrace::write_npy(path, meta, all[i].bytes()); !done)
                std::cerr << std::string_view(done.error().message) << '\n';
        }
    }
    // Reads and executes the file like `headrace run`.
    std::string run(const std::string& name, const std::string& bytes,
        const std::vector<headrace::tensor>& inputs) const {
        const auto file = headrace::pte_file::open(std::as_bytes(std::span(bytes)));
        if (!file) return std::string(file.error().message);
        const auto read = headrace::read_pte(file.value(), "forward");
        if (!read) return std::string(read.error().message);
        const auto made = headrace::execute(*read.value(), inputs);
        if (!made) return std::string(made.error().message);
        save(name + ".ran", made.value());
        return {};
    }

    std::filesystem::path folder_;
    std::ofstream index_;
    std::size_t count_ = 0;
};

#endif
