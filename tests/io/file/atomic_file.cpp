// SPDX-License-Identifier: MIT
// Tests of files that are written completely or not at all.

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>

using namespace headrace;
namespace fs = std::filesystem;

namespace {

struct scratch {
    scratch() {
        std::string name = (fs::temp_directory_path() / "headrace.XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        folder = name;
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() { fs::remove_all(folder); }
    [[nodiscard]] std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
    }
    fs::path folder;
};

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
result<void> write(const fs::path& path, std::string_view text, durability d = durability::none) {
    return write_atomically(path.string(), std::as_bytes(std::span(text.data(), text.size())), d);
}

}  // namespace

TEST_CASE("a file is written, or replaced, and nothing is left beside it", "[atomic_file]") {
    const scratch s;
    const fs::path file = s.folder / "file";
    REQUIRE(write(file, "first"));
    CHECK(content_of(file) == "first");
    REQUIRE(write(file, "", durability::synced));
    CHECK(content_of(file).empty());
    CHECK(s.files() == 1);
}

TEST_CASE("a file is written as it is produced, and not at all if that fails", "[atomic_file]") {
    const scratch s;
    const fs::path file = s.folder / "file";
    const auto produce = [](bool succeeds) -> byte_source {
        return [succeeds](const byte_sink& sink) -> result<void> {
            for (const std::string_view part : {"one, ", "", "two"}) {
                if (!sink(std::as_bytes(std::span(part)))) return invalid("the sink gave up");
            }
            if (!succeeds) return malformed("what was read is gone");
            return {};
        };
    };
    REQUIRE(write_atomically(file.string(), produce(true)));
    CHECK(content_of(file) == "one, two");
    REQUIRE(write(file, "before"));
    const auto failed = write_atomically(file.string(), produce(false));
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message == "what was read is gone");
    CHECK(content_of(file) == "before");
    CHECK(s.files() == 1);
    const auto full = write_atomically("/dev/full", produce(true));
    REQUIRE_FALSE(full);  // the system's reason, not the producer's
    CHECK(full.error().message.find("cannot write /dev/full: No space left") == 0);
}

TEST_CASE("parts of a large mapped file are copied by the kernel, to files and to pipes", "[atomic_file]") {
    const scratch s;
    std::string text(std::size_t{1} << 25, ' ');
    for (std::size_t i = 0; i != text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
    REQUIRE(write(s.folder / "source", text));
    const auto source = open_mapped(s.folder / "source");
    REQUIRE(source);
    const std::span<const std::byte> part = source.value().bytes().subspan(12'345, std::size_t{1} << 24);
    REQUIRE(detail::mapped_places::find(part));
    CHECK_FALSE(detail::mapped_places::find(std::as_bytes(std::span(text))));
    const byte_source twice = [&](const byte_sink& sink) -> result<void> {
        static_cast<void>(sink(part) && sink(std::as_bytes(std::span("between", 7))) && sink(part));
        return {};
    };
    REQUIRE(write_atomically((s.folder / "copy").string(), twice));
    const std::string once = text.substr(12'345, part.size());
    CHECK(content_of(s.folder / "copy") == once + "between" + once);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    std::string received(2 * part.size() + 7, ' ');
    std::thread reader([&] {
        std::size_t done = 0;
        while (done != received.size()) {
            const ssize_t got = ::read(ends[0], received.data() + done, received.size() - done);
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
        }
    });
    CHECK(write_atomically("/dev/fd/" + std::to_string(ends[1]), twice));
    ::close(ends[1]);
    reader.join();
    ::close(ends[0]);
    CHECK(received == once + "between" + once);
}

TEST_CASE("a new file has the rights that the umask leaves, a replaced one its own", "[atomic_file]") {
    const scratch s;
    const fs::path file = s.folder / "file";
    const auto mode = [&] { return static_cast<unsigned>(fs::status(file).permissions()); };
    const mode_t mask = ::umask(027);
    const auto made = write(file, "x");
    ::umask(mask);
    REQUIRE(made);
    CHECK(mode() == 0640U);
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    REQUIRE(write(file, "y"));
    CHECK(mode() == 0600U);
}

TEST_CASE("threads write beside each other, and to one path", "[atomic_file]") {
    const scratch s;
    constexpr int rounds = 200;
    std::atomic<int> failures = 0;
    const mode_t mask = ::umask(027);
    const auto work = [&](char letter) {
        const std::string text(1000, letter);
        for (int i = 0; i != rounds; ++i) {
            const fs::path own = s.folder / (letter + std::to_string(i));
            if (!write(own, text) || !write(s.folder / "shared", text)) ++failures;
        }
    };
    std::thread other(work, 'a');
    work('b');
    other.join();
    CHECK(::umask(mask) == 027);
    CHECK(failures == 0);
    CHECK(s.files() == 2 * rounds + 1);
    const std::string shared = content_of(s.folder / "shared");
    CHECK((shared == std::string(1000, 'a') || shared == std::string(1000, 'b')));
    for (const auto& file : fs::directory_iterator(s.folder)) {
        CHECK(static_cast<unsigned>(file.status().permissions()) == 0640U);
    }
}

TEST_CASE("what cannot be written leaves what was there, and says why", "[atomic_file]") {
    const scratch s;
    const auto missing = write(s.folder / "no" / "file", "x");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message.starts_with("cannot write " + (s.folder / "no" / "file").string() + ": "));
    fs::create_directory(s.folder / "folder");
    CHECK_FALSE(write(s.folder / "folder", "x"));
    CHECK(fs::is_directory(s.folder / "folder"));
    CHECK(s.files() == 1);
}

TEST_CASE("a device is written to as it is", "[atomic_file]") {
    REQUIRE(write("/dev/null", "x"));
    CHECK(fs::is_character_file("/dev/null"));
    const auto full = write("/dev/full", "x");
    REQUIRE_FALSE(full);
    CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("links are followed, also to a file that is not there yet", "[atomic_file]") {
    const scratch s;
    fs::create_directory(s.folder / "real");
    REQUIRE(write(s.folder / "real" / "old", "before"));
    for (const char* name : {"old", "new"}) {
        const fs::path link = s.folder / name;
        fs::create_symlink(fs::path("real") / name, s.folder / "hop");
        fs::create_symlink("hop", link);
        REQUIRE(write(link, "after"));
        CHECK(fs::is_symlink(link));
        CHECK(content_of(s.folder / "real" / name) == "after");
        fs::remove(s.folder / "hop");
    }
    fs::create_symlink("circle", s.folder / "circle");
    const auto refused = write(s.folder / "circle", "text");
    REQUIRE(!refused);
    CHECK(refused.error().kind == error_kind::unwritable);
    CHECK(fs::is_symlink(s.folder / "circle"));
}

TEST_CASE("an open file is written to where it stands", "[atomic_file]") {
    const scratch s;
    const fs::path file = s.folder / "file";
    REQUIRE(write(file, "first"));
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND);
    REQUIRE(descriptor >= 0);
    const std::string path = "/dev/fd/" + std::to_string(descriptor);
    CHECK(write(path, ", second"));
    ::close(descriptor);
    CHECK(content_of(file) == "first, second");
    CHECK(!write("/dev/fd/999999", "text"));
}
