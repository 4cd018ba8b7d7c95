// SPDX-License-Identifier: MIT
// Tests io/file/zip_archive.hpp and io/file/mapped_file.hpp.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/file/zip_archive.hpp>
#include <headrace/io/file/zip_writer.hpp>

#include "../../support/source_tree.hpp"
#include "stored_zip.hpp"

namespace {

using namespace headrace;
using namespace stored_zip;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string message_of(const std::string& file) {
    const auto archive = zip_archive::open(bytes_of(file));
    if (!archive) return std::string(archive.error().message);
    for (const zip_entry& e : archive.value().entries()) {
        if (const auto viewed = archive.value().view(e); !viewed) return std::string(viewed.error().message);
    }
    return "";
}

}  // namespace

TEST_CASE("zip: entries are views into the archive", "[io][zip]") {
    const std::string large(200'000, 'x');
    const std::string file =
        archive_of({{"b/two", "hello"}, {"a/one", large}, {"c/none", ""}, {"d/wide", "zip64", 0, true}});
    const auto opened = zip_archive::open(bytes_of(file));
    REQUIRE(opened);
    const zip_archive& archive = opened.value();
    REQUIRE(archive.entries().size() == 4);
    CHECK(archive.entries()[0].name == "a/one");
    CHECK(archive.find("a/on") == nullptr);
    for (const auto& [name, expected] :
        {std::pair("a/one", large), {"b/two", "hello"}, {"c/none", ""}, {"d/wide", "zip64"}}) {
        const auto viewed = archive.view(*archive.find(name));
        REQUIRE(viewed);
        const auto* first = reinterpret_cast<const char*>(viewed.value().data());
        CHECK(std::string(first, viewed.value().size()) == expected);
        CHECK((first >= file.data() && first + viewed.value().size() <= file.data() + file.size()));
    }
}

TEST_CASE("zip: an archive can be moved", "[io][zip]") {
    const std::string file = archive_of({{"a", "hello"}});
    auto opened = zip_archive::open(bytes_of(file));
    REQUIRE(opened);
    const zip_archive moved = std::move(opened).value();
    CHECK(moved.view(*moved.find("a")));
}

TEST_CASE("zip: malformed archives are refused", "[io][zip]") {
    const std::string good = archive_of({{"a", "hello"}, {"b", "world"}});
    CHECK(message_of(good).empty());
    std::string wrong = good;
    wrong[wrong.find("world")] = 'W';
    CHECK(message_of(wrong) == "entry b: CRC error");
    CHECK(message_of(archive_of({{"a", "1"}, {"a", "2"}})) ==
        "malformed zip archive: two entries have the same name");
    CHECK(message_of(archive_of({{"a", "1", 0, false, 8}})) ==
        "entry a: is compressed; torch.export.save stores entries as they are");
    CHECK(message_of(archive_of({{"a", "1", 1}})) == "entry a: is encrypted");
    for (std::size_t size = 1; size < good.size(); ++size) {
        CHECK_FALSE(message_of(good.substr(0, size)).empty());
    }
    CHECK(message_of("no zip") == "malformed zip archive: Not a zip archive");
}

TEST_CASE("zip: an entry beyond the archive is refused", "[io][zip]") {
    const std::string good = archive_of({{"a", "hello"}});
    const std::size_t central = good.find("PK\x01\x02");
    for (const std::size_t field : {std::size_t{20}, std::size_t{24}, std::size_t{42}}) {
        std::string wrong = good;
        wrong[central + field + 2] = '\x7f';
        CHECK_FALSE(message_of(wrong).empty());
    }
}

TEST_CASE("zip: the directory and the headers before the entries must agree", "[io][zip]") {
    const std::string good = archive_of({{"a", "hello"}, {"b", "world"}});
    const std::size_t local = good.find("PK\x03\x04", 1);
    for (const std::size_t field : std::initializer_list<std::size_t>{0, 6, 8, 14, 18, 22, 26, 28, 30}) {
        CAPTURE(field);
        std::string wrong = good;
        wrong[local + field] = static_cast<char>(wrong[local + field] ^ 2);
        CHECK_FALSE(message_of(wrong).empty());
    }
    std::string renamed = good;
    renamed[local + 30] = 'c';
    CHECK(message_of(renamed) == "entry b: the directory of the archive and the header before it differ");
    CHECK(message_of("x" + good) == "malformed zip archive: its end does not say where its directory is");
    CHECK(message_of(good + "x") == "malformed zip archive: Not a zip archive");
}

TEST_CASE("zip: entries that share bytes are refused", "[io][zip]") {
    const std::string inner = archive_of({{"b", "world"}});
    const std::string header = inner.substr(0, inner.find("PK\x01\x02"));
    std::string file = archive_of({{"a", header}});
    const std::size_t first = file.find(header);
    const std::size_t directory = file.find("PK\x01\x02");
    const std::size_t end = file.find("PK\x05\x06");
    const std::size_t inner_directory = inner.find("PK\x01\x02");
    std::string second = inner.substr(inner_directory, inner.find("PK\x05\x06") - inner_directory);
    second[42] = static_cast<char>(first);  // where the header is in the first entry
    file.insert(end, second);
    file[end + second.size() + 8] = file[end + second.size() + 10] = 2;
    file[end + second.size() + 12] = static_cast<char>(end - directory + second.size());
    CHECK(message_of(file) == "malformed zip archive: two entries share bytes");
}

TEST_CASE("zip: written archives are read, with aligned bytes", "[io][zip]") {
    const std::string long_text(100'000, 'x');
    std::vector<std::string> names;
    for (int i = 0; i != 70'000; ++i) names.push_back("entry/" + std::to_string(i));
    zip_writer writer;
    writer.add("long", bytes_of(long_text));
    writer.add("none", {});
    for (const std::string& name : names) writer.add(name, bytes_of(name));  // more than 16 bits count
    const auto made = writer.finish();
    REQUIRE(made);
    const auto archive = zip_archive::open(made.value());
    REQUIRE(archive);
    REQUIRE(archive.value().entries().size() == names.size() + 2);
    for (const zip_entry& e : archive.value().entries()) {
        const auto viewed = archive.value().view(e);
        REQUIRE(viewed);
        const std::string_view text(reinterpret_cast<const char*>(viewed.value().data()), e.size);
        if (text != (e.name == "long" ? long_text : e.name == "none" ? "" : e.name) || e.begin % 64 != 0)
            FAIL_CHECK(e.name);
    }
    zip_writer wrong;
    wrong.add(std::string(70'000, 'n'), {});
    CHECK_FALSE(wrong.finish());
}

TEST_CASE("zip: every single bit of an archive may be wrong", "[io][zip]") {
    const std::string good = archive_of({{"a", "hello"}, {"b/c", "world", 0, true}});
    for (std::size_t bit = 0; bit != 8 * good.size(); ++bit) {
        std::string wrong = good;
        wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << (bit % 8)));
        static_cast<void>(message_of(wrong));
    }
}

TEST_CASE("zip: what PyTorch writes", "[io][zip]") {
    auto file = open_mapped(testing::fixtures() / "conv_bn_relu" / "model.pt2");
    REQUIRE(file);
    const mapped_file moved = std::move(file).value();
    const auto archive = zip_archive::open(moved.bytes());
    REQUIRE(archive);
    REQUIRE(archive.value().find("model/data/weights/weight_0") != nullptr);
    const auto weight = archive.value().view(*archive.value().find("model/data/weights/weight_0"));
    REQUIRE(weight);
    CHECK((weight.value().data() - moved.bytes().data()) % 64 == 0);
}

TEST_CASE("mapped_file: a file that shrinks gives zeros, and an error", "[io][mapped_file]") {
    guard_mapped_files();
    const auto path = std::filesystem::temp_directory_path() / "headrace_shrinking_test";
    constexpr std::size_t size = 100'000;
    for (const std::size_t left : {std::size_t{0}, std::size_t{50'000}, size - 1}) {
        CAPTURE(left);
        std::ofstream(path) << std::string(size, 'x');
        auto opened = open_mapped(path);
        auto other = open_mapped(testing::fixtures() / "conv_bn_relu" / "model.pt2");
        REQUIRE(opened);
        REQUIRE(other);
        CHECK(opened.value().check());
        std::filesystem::resize_file(path, left);
        const mapped_file file = std::move(opened).value();
        CHECK(std::ranges::count(file.bytes(), std::byte{'x'}) == static_cast<std::ptrdiff_t>(left));
        REQUIRE_FALSE(file.check());
        CHECK(file.check().error().message ==
            std::pmr::string(path.string() + ": became shorter while it was read"));
        CHECK(other.value().check());
    }
    std::filesystem::remove(path);
    std::signal(SIGBUS, SIG_DFL);
}

TEST_CASE("mapped_file: what cannot be mapped is named", "[io][mapped_file]") {
    const auto message = [](const std::filesystem::path& path) {
        return std::string(open_mapped(path).error().message);
    };
    CHECK(message("/nonexistent/x") == "/nonexistent/x: no such file");
    CHECK(message("/tmp") == "/tmp: is a directory, not a file");
    CHECK(message("/dev/null") == "/dev/null: is not a regular file");
    const auto empty = std::filesystem::temp_directory_path() / "headrace_empty_test";
    std::ofstream(empty).close();
    CHECK(message(empty) == empty.string() + ": is empty");
    std::filesystem::remove(empty);
}
