// SPDX-License-Identifier: MIT
// Tests headrace::compare_with_board: the first layer that differs, and the guess at the fault.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <headrace/compare/board_comparison.hpp>
#include <headrace/compare/difference_kind.hpp>
#include <headrace/compare/layer_runner.hpp>
#include <headrace/compare/measured_times.hpp>
#include <headrace/io/board/dump.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/run/models.hpp>

#include "../support/source_tree.hpp"

using namespace headrace;

namespace {

/// A lowered model, and its execution on a board that corrupts results.
struct dumped_model {
    lowering_outcome lowered;
    std::vector<std::pair<std::string, value>> values;
    std::vector<value> wanted;
    std::vector<tensor> inputs;

    explicit dumped_model(const std::string& path)
        : lowered(try_lowering([&] { return read_model(path); }, {.streams = true})) {
        REQUIRE_FALSE(lowered.failure);
        values = named_values(g());
        for (const auto& [name, v] : values) wanted.push_back(v);
        auto read = model_inputs(g(), {});
        REQUIRE(read.has_value());
        inputs = std::move(read).value();
    }
    [[nodiscard]] const graph& g() const { return *lowered.model.graph; }

    /// Returns the file that a board writes whose results `change` sees first.
    [[nodiscard]] std::vector<std::byte> dump(
        const std::function<void(const std::string& name, tensor& t)>& change) const {
        std::vector<tensor> kept;
        std::vector<std::string> names;
        const layer_visitor visit = [&](value v, tensor& t) {
            const auto& named = *std::ranges::find(values, v, &std::pair<std::string, value>::second);
            change(named.first, t);
            kept.push_back(t);
            names.push_back(named.first);
        };
        REQUIRE(layer_runner(g(), wanted).run(inputs, visit).has_value());
        std::vector<board_record> records;
        for (std::size_t i = 0; i != kept.size(); ++i) records.push_back({names[i], kept[i].bytes(), 0});
        return write_board_dump(records);
    }

    [[nodiscard]] board_comparison compare(std::span<const std::byte> file) const {
        const auto records = read_board_dump(file);
        REQUIRE(records.has_value());
        auto compared = compare_with_board(
            g(), records.value(), inputs, [](std::string_view, const node&) { return std::string(); });
        REQUIRE(compared.has_value());
        return std::move(compared).value();
    }
};

std::string path_of(const std::string& model) {
    return (testing::source_tree() / model / "model.pt2").string();
}

/// Changes some elements of a copy: tensors share their elements.
tensor corrupted(const tensor& t, std::mt19937& random) {
    std::vector<double> numbers = t.to<double>();
    const std::size_t count = 1 + random() % std::min<std::size_t>(numbers.size(), 8);
    for (std::size_t i = 0; i != count; ++i) {
        double& x = numbers[random() % numbers.size()];
        const auto by = static_cast<double>(1 + random() % 3);
        x = x > 0 ? x - by : x + by;
    }
    return tensor::of(t.type(), t.shape(), numbers);
}

tensor made(dtype type, eval::extents shape, const std::vector<double>& numbers) {
    return tensor::of(type, std::move(shape), numbers);
}

std::string kind_of(const tensor& expected, const tensor& got) {
    const element_differences differing = differences_of(expected, got);
    REQUIRE_FALSE(differing.where.empty());
    return difference_kind(expected, got, differing, {});
}

/// Numbers that look like those of a layer.
std::vector<double> layer_numbers(std::size_t count, double low = -100, double high = 100) {
    std::mt19937 random(7);
    std::vector<double> numbers(count);
    for (double& x : numbers)
        x = std::floor(low + (high - low) * static_cast<double>(random() % 1000) / 1000.0);
    return numbers;
}

}  // namespace

TEST_CASE("the first layer that differs is found for 50 seeded differences") {
    std::size_t right = 0, all = 0;
    for (const char* model : {"examples/models/kws_dscnn_int8", "tests/fixtures/quantized_cnn"}) {
        const dumped_model m(path_of(model));
        CHECK(m.compare(m.dump([](const std::string&, tensor&) {})).first() == nullptr);
        for (std::uint32_t seed = 0; seed != 25; ++seed) {
            std::mt19937 random(seed);
            const std::string bad = m.values[random() % m.values.size()].first;
            const auto file = m.dump([&](const std::string& name, tensor& t) {
                if (name == bad) t = corrupted(t, random);
            });
            const board_comparison c = m.compare(file);
            ++all;
            INFO(model << " seed " << seed << ": " << bad);
            REQUIRE(c.first() != nullptr);
            CHECK(c.first()->name == bad);
            right += c.first()->name == bad ? 1 : 0;
            // No later layer has a fault of its own.
            for (const board_layer& l : c.layers) CHECK((l.own != 0) == (l.name == bad));
        }
    }
    CHECK(all == 50);
    CHECK(right == all);
}

TEST_CASE("the kinds of differences are told by the elements") {
    constexpr dtype int8 = dtype::int8, int32 = dtype::int32;
    const eval::extents shape{1, 4, 4, 8};
    const std::vector<double> x = layer_numbers(128);
    const tensor expected = made(int8, shape, x);
    const auto changed = [&](const auto& f) {
        std::vector<double> y = x;
        for (std::size_t i = 0; i != y.size(); ++i) y[i] = f(i, y[i]);
        return kind_of(expected, made(int8, shape, y));
    };
    CHECK(changed([](std::size_t, double) { return 0.0; }).starts_with("all elements are 0"));
    CHECK(changed([](std::size_t, double) { return -5.0; }).starts_with("all elements are -5"));
    CHECK(
        changed([](std::size_t i, double v) { return v + (i % 3 == 0 ? 1 : 0); }).starts_with("off by one"));
    CHECK(changed([](std::size_t, double v) { return v + 3; }) ==
        "all elements are off by 3: another zero point");
    CHECK(changed([](std::size_t, double v) { return v < 0 ? v + 128 : v - 128; }).find("signed") !=
        std::string::npos);
    CHECK(changed([](std::size_t, double v) { return std::max(v, 0.0); }).starts_with("clamped to [0, "));
    CHECK(changed([](std::size_t i, double v) { return i % 8 == 5 ? v / 2 : v; }).find("channel 5 alone") !=
        std::string::npos);
    CHECK(changed([&](std::size_t i, double) { return x[i % 8 == 0 ? i : i - 1]; }) ==
        "channels are shifted by 1 along axis 3");
    CHECK(changed([&](std::size_t i, double) {
        return x[i % 16 * 8 + i / 16];
    }).find("NCHW instead of NHWC") != std::string::npos);
    CHECK(changed([](std::size_t i, double v) {
        return i >= 120 ? v - 20 - static_cast<double>(i % 7) : v;
    }).find("from 120 of 128 on") != std::string::npos);
    CHECK(changed([](std::size_t i, double v) {
        const std::size_t row = i / 32, column = i / 8 % 4;
        return row == 0 || column == 3 ? v - 9 - static_cast<double>(i % 5) : v;
    }).find("border") != std::string::npos);
    CHECK(kind_of(made(int32, {4}, {1, 2, 3, 70000}),
              made(int32, {4}, {16777216, 33554432, 50331648, 1880162560})) ==
        "the bytes of each element are in reverse order");
    CHECK(kind_of(made(int8, {4}, {127, 127, 5, -128}), made(int8, {4}, {-120, -126, 5, 100})) ==
        "the board wraps around where the result saturates");
    const tensor got = made(int8, shape, layer_numbers(128, -50, 90));
    CHECK(difference_kind(
        expected, got, differences_of(expected, got), std::vector{earlier_tensor{"conv", got.bytes()}})
              .starts_with("the bytes of conv"));
}

TEST_CASE("floats differ by more than another order of a sum explains") {
    const tensor x = made(dtype::float32, {3}, {1, 100, -0.5});
    CHECK(differences_of(x, made(dtype::float32, {3}, {1.00001, 100.001, -0.5})).where.empty());
    CHECK(
        differences_of(x, made(dtype::float32, {3}, {1, 100.1, -0.5})).where == std::vector<std::size_t>{1});
}

TEST_CASE("a dump that does not fit says which record, and where") {
    const dumped_model m(path_of("tests/fixtures/quantized_cnn"));
    const auto file = m.dump([](const std::string&, tensor&) {});
    const auto records = read_board_dump(file).value();
    const auto error_of = [&](std::vector<board_record> given, bool has_inputs = true) {
        const auto inputs = has_inputs ? std::optional(m.inputs) : std::nullopt;
        const auto done = compare_with_board(
            m.g(), given, inputs, [](std::string_view, const node&) { return std::string(); });
        return done ? std::string() : std::string(done.error().message);
    };
    CHECK(error_of(records, false).empty());
    CHECK(error_of({records[1]}, false).find("does not have the input") != std::string::npos);
    auto changed = records;
    changed[2].name += "x";
    CHECK(error_of(changed).find("record 3 at offset " + std::to_string(records[2].offset)) == 0);
    CHECK(error_of(changed).find("the nearest is " + records[2].name) != std::string::npos);
    changed = records;
    changed[1].bytes = changed[1].bytes.first(3);
    CHECK(error_of(changed).find("it has 3 bytes, and ") != std::string::npos);
    CHECK(error_of({records[0], records[0]}).find("a dump is of one inference") != std::string::npos);
}

TEST_CASE("every prefix of a dump is an error or a dump") {
    const std::vector<std::byte> bytes(5, std::byte{7});
    const std::vector<board_record> records{{"x", bytes, 0}, {"conv2d", std::span(bytes).first(2), 0}};
    const auto file = write_board_dump(records);
    std::size_t whole = 0;
    for (std::size_t n = 0; n != file.size(); ++n) {
        const auto read = read_board_dump(std::span(file).first(n));
        whole += read ? 1 : 0;
        if (!read) CHECK_FALSE(read.error().message.empty());
    }
    CHECK(whole == 2);  // after the head, and after the first record
    CHECK(read_board_dump(file).value().size() == 2);
    auto other = file;
    other[4] = std::byte{2};
    CHECK(read_board_dump(other).error().message.find("version 2") != std::string::npos);
}

TEST_CASE("times of layers are read and compared with predictions") {
    const auto read = read_measured_times("layer,us\nconv,300\nlinear,50\nconv,100\r\npool,5\n");
    REQUIRE(read.has_value());
    CHECK(read.value().unit == "us");
    CHECK(read.value().layers[0] == std::pair<std::string, double>("conv", 400));
    const predicted_times predicted{
        .of = "instructions", .unit = "instructions", .layers = {{"conv", 1000}, {"linear", 3500}}};
    const timed_layers paired = pair_times(read.value(), predicted);
    CHECK(paired.scale == Approx(0.1));
    CHECK(paired.layers[0].name == "conv");
    CHECK(paired.layers[0].ratio(paired.scale).value() == Approx(4));
    CHECK_FALSE(paired.layers.back().predicted);
    CHECK(read_measured_times("a,b\n1,2\n").error().message.find("line 1") == 0);
    CHECK(read_measured_times("layer,cycles\nx\n").error().message.find("line 2") == 0);
    CHECK(read_measured_times("layer,cycles\nx,many\n").error().message.find("is no number") !=
        std::string::npos);
    CHECK(read_measured_times("layer,cycles\nx,-1\n").has_error());
    CHECK(read_measured_times("").has_error());
}
