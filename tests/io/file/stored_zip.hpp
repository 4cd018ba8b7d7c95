// SPDX-License-Identifier: MIT
// Defines stored_zip::archive_of, which writes zip archives by hand, so that every field can be wrong.
#ifndef HEADRACE_TESTS_IO_FILE_STORED_ZIP_HPP
#define HEADRACE_TESTS_IO_FILE_STORED_ZIP_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stored_zip {

inline void put(std::string& to, std::uint64_t number, int bytes) {
    for (int i = 0; i != bytes; ++i, number >>= 8U) to += static_cast<char>(number & 0xffU);
}

inline std::uint32_t crc_of(std::string_view data) {
    std::uint32_t crc = ~0U;
    for (const char c : data) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit != 8; ++bit) crc = (crc >> 1U) ^ (0xedb88320U & (0U - (crc & 1U)));
    }
    return ~crc;
}

struct stored {
    std::string name;
    std::string data;
    std::uint32_t flags = 0;
    bool wide = false;  // with a zip64 field
    std::uint32_t method = 0;
};

// Payloads begin after padding of different lengths, like PyTorch's.
inline std::string archive_of(const std::vector<stored>& entries) {
    std::string file;
    std::string directory;
    for (const stored& e : entries) {
        const std::uint64_t offset = file.size();
        const std::string padding(e.data.size() % 7, 'Z');
        const auto header = [&](std::string& to, bool central) {
            put(to, central ? 0x02014b50U : 0x04034b50U, 4);
            if (central) put(to, 45, 2);
            put(to, 45, 2);
            put(to, e.flags, 2);
            put(to, e.method, 2);
            put(to, 0x00210000, 4);
            put(to, crc_of(e.data), 4);
            put(to, e.wide ? 0xffffffffU : e.data.size(), 4);
            put(to, e.wide ? 0xffffffffU : e.data.size(), 4);
            put(to, e.name.size(), 2);
            put(to, (e.wide ? 20U : 0U) + (central ? 0U : 4U + padding.size()), 2);
            if (central) put(to, 0, 10);
            if (central) put(to, offset, 4);
            to += e.name;
            if (e.wide) put(to, 0x00100001U, 4);
            if (e.wide) put(to, e.data.size(), 8);
            if (e.wide) put(to, e.data.size(), 8);
            if (!central) put(to, 0x4246U | padding.size() << 16U, 4);
            if (!central) to += padding;
        };
        header(file, false);
        file += e.data;
        header(directory, true);
    }
    const std::uint64_t begin = file.size();
    file += directory;
    put(file, 0x06054b50U, 4);
    put(file, 0, 4);
    put(file, entries.size(), 2);
    put(file, entries.size(), 2);
    put(file, directory.size(), 4);
    put(file, begin, 4);
    put(file, 0, 2);
    return file;
}

}  // namespace stored_zip

#endif
