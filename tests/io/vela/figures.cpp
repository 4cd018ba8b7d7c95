// SPDX-License-Identifier: MIT
// Tests the reader of the tables that Vela writes.
#include <catch2/catch.hpp>

#include <headrace/io/vela/figures.hpp>

using namespace headrace;

namespace {

constexpr std::string_view per_layer =
    "Original Operator,NNG Operator,Target,Op Cycles,Name\r\n"
    "Conv2D,Conv2D,NPU,300,first\r\n"
    "Clamp,Clamp,NPU,0,first\r\n"
    "Conv2D,Conv2D,NPU,200.0,second\r\n"
    "Table,LUT,NPU,700,third\r\n"
    "While,While,CPU,0,fourth\n";
constexpr std::string_view summary =
    "network,weights_storage_area,sram_memory_used,dram_memory_used,on_chip_flash_memory_used,"
    "off_chip_flash_memory_used,cycles_total\nm,Off-chip Flash,21.5,3.25,0.5,29.75,1100\n";

}  // namespace

TEST_CASE("cycles by layer and by operator", "[vela_figures]") {
    const auto read = read_vela_figures("ethos-u55-128", per_layer, summary);
    REQUIRE(read);
    const vela_figures& figures = read.value();
    CHECK(figures.cycles == 1100);
    CHECK(figures.sram_kib == 21.5);
    CHECK(figures.dram_kib == 3.25);
    CHECK(figures.flash_kib == 30.25);
    CHECK(figures.constants_in == "Off-chip Flash");
    CHECK(figures.on_cpu() == 1);
    CHECK(figures.on_npu() == 3);
    REQUIRE(figures.layers.size() == 5);
    CHECK(figures.layers[2].name == "second");
    CHECK(figures.layers[2].cycles == 200);
    const auto operators = figures.by_operator();
    REQUIRE(operators.size() == 2);  // operators without cost are fused
    CHECK(operators[0].op == "LUT");
    CHECK(operators[1].op == "Conv2D");
    CHECK(operators[1].count == 2);
    CHECK(operators[1].cycles == 500);
}

TEST_CASE("figures as JSON, with the version of Vela if it is known", "[vela_figures]") {
    auto read = read_vela_figures("ethos-u55-128", per_layer, summary);
    REQUIRE(read);
    const auto json = [&] {
        json_writer w;
        w.begin_object();
        write_vela_figures(w, read.value());
        w.end_object();
        return std::move(w).text();
    };
    CHECK(json().find("\"on_cpu\": 1") != std::string::npos);
    CHECK(json().find("\"constants_in\": \"Off-chip Flash\"") != std::string::npos);
    CHECK(json().find("\"vela\"") == std::string::npos);
    read.value().version = "5.2.0";
    CHECK(json().find("\"vela\": \"5.2.0\"") != std::string::npos);
}

TEST_CASE("cycles by time step", "[vela_figures]") {
    const auto read = read_vela_figures("ethos-u55-128",
        "Name,NNG Operator,Target,Op Cycles\ngru_l0_t10of12_add,Add,NPU,5\ngru_l0_t2of12.conv2d,Conv2D,NPU,300\n"
        "gru_l0_t2of12_add,Add,NPU,4\ngru_l0_t2of12_add,LUT,NPU,0\nother,Add,NPU,9\n",
        summary);
    REQUIRE(read);
    const auto steps = read.value().by_step();
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].network == "gru_l0");
    CHECK(steps[0].step == 2);
    CHECK(steps[0].count == 2);
    CHECK(steps[0].cycles == 304);
    CHECK(steps[1].step == 10);
}

TEST_CASE("tables without the columns, cut off, or of something else", "[vela_figures]") {
    CHECK(read_vela_figures("u", "", summary).error().message ==
        "Vela's figures by layer have no column 'Name'");
    CHECK(read_vela_figures("u", per_layer, "").error().message ==
        "Vela's summary has no column 'cycles_total'");
    CHECK(read_vela_figures("u", per_layer, "cycles_total\n").error().message ==
        "Vela's summary has no column 'cycles_total'");
    const auto cut =
        read_vela_figures("u", "Name,NNG Operator,Target,Op Cycles\nx,Add", "cycles_total\nno\n");
    REQUIRE(cut);
    CHECK(cut.value().cycles == 0);
    REQUIRE(cut.value().layers.size() == 1);
    CHECK(cut.value().layers[0].cycles == 0);
    CHECK_FALSE(cut.value().layers[0].on_npu);
}
