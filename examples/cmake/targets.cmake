# The libraries and how they are installed. All but the last are header-only.
#   headrace::headrace  the core: op, ir, infer, pass, passes, partition; needs the headers of Boost alone
#   headrace::eval      execution on the CPU; Eigen
#   headrace::pt2       reading PyTorch's exports; libzip, simdjson
#   headrace::tosa      TOSA flatbuffers; FlatBuffers
#   headrace::compiled  all of them with the standard passes, kernels, readers and writers compiled once
set(headrace_root ${CMAKE_CURRENT_LIST_DIR}/../..)
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/headraceModel.cmake)

function(headrace_library name)
  add_library(headrace_${name} INTERFACE)
  add_library(headrace::${name} ALIAS headrace_${name})
  set_target_properties(headrace_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(headrace_${name} INTERFACE ${ARGN})
  install(TARGETS headrace_${name} EXPORT headraceTargets)
endfunction()

headrace_library(headrace Boost::headers)
target_compile_features(headrace_headrace INTERFACE cxx_std_20)
# On Arm, g++ 12 remarks on each span that is passed that GCC 7 passed it otherwise.
target_compile_options(headrace_headrace INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>)
target_include_directories(headrace_headrace INTERFACE
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
headrace_library(eval headrace_headrace Eigen3::Eigen)
# Constants are folded to the same bits on every machine: no fused multiply-add where the source has none.
target_compile_options(headrace_eval INTERFACE -ffp-contract=off)
headrace_library(pt2 headrace_headrace headrace::libzip simdjson::simdjson)
headrace_library(tosa headrace_headrace flatbuffers::flatbuffers)

if(HEADRACE_COMPILED_LIBRARY OR HEADRACE_EXAMPLES)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/headrace/compiled/*.cpp)
  add_library(headrace_compiled STATIC ${sources})
  add_library(headrace::compiled ALIAS headrace_compiled)
  set_target_properties(headrace_compiled PROPERTIES EXPORT_NAME compiled)
  target_compile_definitions(headrace_compiled PUBLIC HEADRACE_COMPILED)
  target_link_libraries(headrace_compiled PUBLIC headrace_headrace headrace_eval headrace_pt2 headrace_tosa)
  if(headrace_is_top_level)
    target_compile_options(headrace_compiled PRIVATE ${headrace_warning_flags})
  endif()
  install(TARGETS headrace_compiled EXPORT headraceTargets DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/headrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT headraceTargets NAMESPACE headrace:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headrace)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(headraceConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/headraceConfig.cmake ${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake
  ${CMAKE_CURRENT_LIST_DIR}/headraceModel.cmake ${CMAKE_CURRENT_BINARY_DIR}/headraceConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headrace)
