// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/samples/shard_statistics.hpp.

#include <headrace/lowering/samples/shard_statistics.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include <libdeflate.h>

#include <headrace/base/fixed_string.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/eval/fold.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

namespace {

static_assert(std::endian::native == std::endian::little, "statistics are written as they lie in memory");

constexpr std::size_t title_size = 24;
constexpr std::array<char, title_size> title{"headrace statistics 1\n"};
constexpr std::string_view any_title = "headrace statistics ";

struct file_header {
    std::array<char, title_size> text = title;
    std::uint64_t key = 0;
    std::uint64_t samples = 0;
    std::uint64_t points = 0;
};

struct value_header {
    value_range range{}, large{}, extreme{};
    std::uint64_t undefined = 0;
    std::uint64_t infinite = 0;
    std::uint64_t count = 0;
    std::uint64_t kept = 0;
};
static_assert(sizeof(file_header) == 48 && sizeof(value_header) == 56);

// Takes a T from the front of bytes; false if they are too few.
template <class T>
bool take(std::span<const std::byte>& from, T& to) {
    if (from.size() < sizeof to) return false;
    std::memcpy(&to, from.data(), sizeof to);
    from = from.subspan(sizeof to);
    return true;
}

// True for ranges that numbers have: an observer computes with them.
bool is_range(const value_range& r, bool may_be_infinite) {
    if (std::isnan(r.lowest) || std::isnan(r.highest)) return false;
    return may_be_infinite || r.empty() || (std::isfinite(r.lowest) && std::isfinite(r.highest));
}

// Skips a value with the numbers that are kept of it; false if they are not there, or none are.
bool skip_value(std::span<const std::byte>& from) {
    value_header header;
    if (!take(from, header) || header.kept > from.size() / sizeof(float)) return false;
    if (header.kept != 0 && header.kept != header.count) return false;
    if (!is_range(header.range, false) || !is_range(header.large, false) || !is_range(header.extreme, true))
        return false;
    from = from.subspan(static_cast<std::size_t>(header.kept) * sizeof(float));
    return true;
}

std::uint64_t combined(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    return (std::rotl(a, 23) ^ b) * odd;
}

}  // namespace

std::uint64_t fingerprint_of(graph& g) {
    std::uint64_t key = hash_of(listing(g));
    for_each_node(g, [&](const node& n) {
        const auto* c = args_if<builtin::constant>(n);
        if (c == nullptr || n.results[0].meta == nullptr) return;
        const tensor t = tensor_of_constant(c->data, *n.results[0].meta);
        key = combined(key, t.size() == 0 ? 0 : libdeflate_crc32(0, t.bytes().data(), t.bytes().size()));
    });
    return key;
}

void statistics_writer::write(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;  // libdeflate takes null for the begin of a checksum
    checksum_ = libdeflate_crc32(checksum_, bytes.data(), bytes.size());
    static_cast<void>(sink_(bytes));  // write_atomically reports a failure
}

sample_statistics statistics_writer::statistics(std::uint64_t program, std::size_t samples) {
    program_ = program;
    samples_ = samples;
    return {.begin = [this](std::string_view points) { return begin(points); },
        .record = [this](const std::vector<observed_values>& values) { return record(values); }};
}

result<void> statistics_writer::begin(std::string_view points) {
    points_ = static_cast<std::size_t>(std::ranges::count(points, '\n'));
    const file_header header{
        .key = combined(program_, hash_of(points)), .samples = samples_, .points = points_};
    write(std::as_bytes(std::span(&header, 1)));
    is_begun_ = true;
    return {};
}

result<void> statistics_writer::record(const std::vector<observed_values>& values) {
    for (const observed_values& v : values) {
        const value_header header{v.range.range, v.range.large, v.range.extreme, v.range.undefined,
            v.range.infinite, v.count, v.numbers.size()};
        write(std::as_bytes(std::span(&header, 1)));
        write(std::as_bytes(std::span(v.numbers)));
    }
    ++recorded_;
    return {};
}

result<void> statistics_writer::end() {
    if (!is_begun_ || recorded_ != samples_) return invalid("not all samples have been observed");
    const std::uint32_t checksum = checksum_;
    write(std::as_bytes(std::span(&checksum, 1)));
    return {};
}

result<statistics_reader> statistics_reader::open(const std::vector<std::string>& paths) {
    statistics_reader reader;
    for (const std::string& path : paths) {
        HEADRACE_TRY(reader.add(path));
    }
    return reader;
}

result<void> statistics_reader::add(const std::string& path) {
    HEADRACE_TRY(file, open_mapped(path));
    const std::span<const std::byte> bytes = file.bytes();
    file_header header;
    std::span<const std::byte> rest = bytes;
    const auto damaged = [&](std::string_view how) {
        return malformed({path, ": ", how, "; write it again with quantize --observe"});
    };
    if (!take(rest, header) || !std::string_view(header.text.data(), any_title.size()).starts_with(any_title))
        return malformed({path, ": it is no file of statistics, which quantize --observe writes"});
    if (header.text != title) return damaged("the statistics are of another version of Headrace");
    std::uint32_t checksum = 0;
    if (rest.size() < sizeof checksum) return damaged("the file ends too early");
    std::memcpy(&checksum, bytes.data() + bytes.size() - sizeof checksum, sizeof checksum);
    if (libdeflate_crc32(0, bytes.data(), bytes.size() - sizeof checksum) != checksum)
        return damaged("the file is damaged or incomplete");
    rest = rest.first(rest.size() - sizeof checksum);
    if (paths_.empty()) {
        key_ = header.key;
        points_ = static_cast<std::size_t>(header.points);
    } else if (header.key != key_ || header.points != points_) {
        return malformed({path, ": its model or its options differ from those of ", paths_.front()});
    }
    const bool fits = header.points != 0 && header.samples != 0 &&
        header.samples <= rest.size() / sizeof(value_header) / header.points;
    if (!fits) return damaged("its values are not what they should be");
    for (std::uint64_t i = 0; i != header.samples; ++i) {
        begins_.push_back(rest);
        for (std::uint64_t k = 0; k != header.points; ++k) {
            if (!skip_value(rest)) return damaged("its values are not what they should be");
        }
    }
    if (!rest.empty()) return damaged("it has more values than it says");
    HEADRACE_TRY(file.check());
    files_.push_back(std::move(file));
    paths_.push_back(path);
    return {};
}

std::vector<observed_values> statistics_reader::at(std::size_t sample) const {
    std::span<const std::byte> rest = begins_[sample];
    std::vector<observed_values> values(points_);
    for (observed_values& v : values) {
        value_header header;
        static_cast<void>(take(rest, header));  // `add` has checked all sizes
        v.range = {.range = header.range,
            .undefined = static_cast<std::size_t>(header.undefined),
            .infinite = static_cast<std::size_t>(header.infinite),
            .large = header.large,
            .extreme = header.extreme};
        v.count = static_cast<std::size_t>(header.count);
        v.numbers.resize(static_cast<std::size_t>(header.kept));
        if (!v.numbers.empty()) std::memcpy(v.numbers.data(), rest.data(), v.numbers.size() * sizeof(float));
        rest = rest.subspan(v.numbers.size() * sizeof(float));
        if (!v.numbers.empty()) v.range = range_of(v.numbers);  // bins are found by it: it must be theirs
    }
    return values;
}

sample_statistics statistics_reader::statistics(std::uint64_t program) const {
    return {.begin = [this, program](std::string_view points) -> result<void> {
                const auto count = static_cast<std::size_t>(std::ranges::count(points, '\n'));
                if (count == points_ && combined(program, hash_of(points)) == key_) return {};
                return malformed({paths_.front(),
                    ": it was observed in another model, or with other options; give --observe and "
                    "--statistics the same ones"});
            },
        .recorded = [this](std::size_t i) -> result<std::vector<observed_values>> { return at(i); }};
}

}  // namespace headrace
