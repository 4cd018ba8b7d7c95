# The libraries and how they are installed. The toolkit is header-only:
#   headrace::headrace  the core: op, ir, infer, pass, passes, partition; needs the headers of Boost alone
#   headrace::tosa      the writer of TOSA flatbuffers; FlatBuffers
# The product is sources, one library a folder, each with those before it:
#   headrace::passes    the standard passes, compiled once
#   headrace::eval      execution on the CPU; Eigen
#   headrace::quantization, headrace::banks, headrace::io (libdeflate, simdjson), headrace::run,
#   headrace::prove, headrace::lowering, headrace::stream, headrace::compare, headrace::show, headrace::opt,
#   headrace::reduce
#   headrace::compiled  all of them
#   headrace::firmware  models as C++ types, for the program alone: it is not installed
# headrace, tosa and compiled are components of the installed package, with a targets file and a pkg-config file each.
set(headrace_root ${CMAKE_CURRENT_LIST_DIR}/../..)
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/headraceModel.cmake)

set(headrace_cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/headrace)

# headrace_install_library(COMPONENT NAME…): exports each target headrace_NAME as headrace::NAME.
function(headrace_install_library component)
  foreach(name IN LISTS ARGN)
    set_target_properties(headrace_${name} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS headrace_${name} EXPORT headrace-${component} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT dev)
  endforeach()
  install(EXPORT headrace-${component} FILE headrace-${component}Targets.cmake NAMESPACE headrace::
    DESTINATION ${headrace_cmake_folder} COMPONENT dev)
endfunction()

# headrace_library(NAME DEPENDENCY…): a header-only library, if its dependencies are present.
function(headrace_library name)
  if(headrace_missing_${name})
    list(JOIN headrace_missing_${name} ", " missing)
    message(STATUS "Headrace: there is no headrace::${name}: it needs ${missing}")
    return()
  endif()
  add_library(headrace_${name} INTERFACE)
  add_library(headrace::${name} ALIAS headrace_${name})
  target_link_libraries(headrace_${name} INTERFACE ${ARGN})
  headrace_install_library(${name} ${name})
endfunction()

# headrace_pkg_config(SUFFIX DESCRIPTION REQUIRES CFLAGS LIBS): headrace<SUFFIX>.pc, in an
# architecture-specific folder if there is something to link.
function(headrace_pkg_config headrace_pc_suffix headrace_pc_description headrace_pc_requires headrace_pc_cflags
    headrace_pc_libs)
  set(folder ${CMAKE_INSTALL_DATAROOTDIR}/pkgconfig)
  if(headrace_pc_libs)
    set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
  file(RELATIVE_PATH headrace_pc_prefix /${folder} /)
  string(REGEX REPLACE "/$" "" headrace_pc_prefix ${headrace_pc_prefix})
  set(file ${CMAKE_CURRENT_BINARY_DIR}/headrace${headrace_pc_suffix}.pc)
  configure_file(${headrace_root}/examples/cmake/headrace.pc.in ${file} @ONLY)
  install(FILES ${file} DESTINATION ${folder} COMPONENT dev)
endfunction()

if(headrace_missing_headrace)
  message(FATAL_ERROR "Headrace needs ${headrace_missing_headrace}")
endif()
headrace_library(headrace Boost::headers)
target_compile_features(headrace_headrace INTERFACE cxx_std_20)
# On Arm, g++ 12 remarks on each span argument that GCC 7 passed it differently.
target_compile_options(headrace_headrace INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>)
target_include_directories(headrace_headrace INTERFACE
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
headrace_pkg_config("" "Static compiler pipelines over tensor graphs" "" "-I\${includedir}" "")
headrace_library(tosa headrace_headrace flatbuffers::flatbuffers)
if(TARGET headrace_tosa)
  headrace_pkg_config(-tosa "TOSA flatbuffers" "headrace flatbuffers" "" "")
endif()

if(HEADRACE_COMPILED_LIBRARY OR HEADRACE_EXAMPLES)
  find_package(range-v3 QUIET)  # for sources alone: an installed library does not need it
  if(NOT TARGET range-v3::range-v3)
    list(APPEND headrace_missing_compiled "range-v3 0.12 (librange-v3-dev)")
  endif()
  if(headrace_missing_compiled)
    list(JOIN headrace_missing_compiled ", " missing)
    message(FATAL_ERROR "Headrace: headrace::compiled and the program need ${missing}; for the headers alone, set "
      "HEADRACE_COMPILED_LIBRARY and HEADRACE_EXAMPLES to OFF")
  endif()

  # headrace_join_units(TARGET): compiles several sources as one unit, if the build asks for that.
  function(headrace_join_units target)
    if(HEADRACE_JOIN_UNITS)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14)
    endif()
  endfunction()
  # headrace_room(NAME SOURCES DEPENDENCY…): the library of a folder whose sources are beside its headers.
  function(headrace_room name sources)
    add_library(headrace_${name} STATIC ${sources})
    add_library(headrace::${name} ALIAS headrace_${name})
    target_link_libraries(headrace_${name} PUBLIC ${ARGN})
    target_link_libraries(headrace_${name} PRIVATE $<BUILD_INTERFACE:range-v3::range-v3>)
    if(headrace_is_top_level)
      target_compile_options(headrace_${name} PRIVATE ${headrace_warning_flags})
      target_link_libraries(headrace_${name} PRIVATE $<BUILD_INTERFACE:headrace_precompiled>)
      if(name STREQUAL eval)  # most of what a kernel's unit costs is these headers
        target_precompile_headers(headrace_eval PRIVATE <headrace/headrace.hpp> <headrace/eval/kernels.hpp>
          <headrace/eval/map.hpp> <headrace/eval/reduce.hpp> <headrace/eval/volume.hpp>)
        if(HEADRACE_SANITIZE)  # without optimization, kernels are too slow
          target_compile_options(headrace_eval PRIVATE -O1)
        endif()
      elseif(NOT name STREQUAL passes)
        target_precompile_headers(headrace_${name} REUSE_FROM headrace_passes)
      endif()
      if(HEADRACE_SANITIZE AND name STREQUAL io)  # it reads what a file says where it says it is
        target_compile_options(headrace_io PRIVATE -fsanitize=alignment,pointer-overflow)
      endif()
      if(NOT name MATCHES "^(passes|eval)$")  # a unit of these is large already
        headrace_join_units(headrace_${name})
      endif()
    endif()
  endfunction()
  if(headrace_is_top_level)
    # With a precompiled header, g++ 12 reports false warnings for moves of inlined std::strings (GCC bugs
    # 105329, 105651).
    add_library(headrace_precompiled INTERFACE)
    target_compile_options(headrace_precompiled INTERFACE
      $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-restrict>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread>
      $<$<CXX_COMPILER_ID:Clang>:-Xclang;-fno-pch-timestamp>
      # By default the collector runs in each unit: what the precompiled header holds is more than it waits for.
      $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
  endif()
  set(headers ${CMAKE_CURRENT_SOURCE_DIR}/include/headrace)
  foreach(room compiled eval quantization banks io run prove lowering stream compare show opt reduce)
    file(GLOB_RECURSE ${room}_sources CONFIGURE_DEPENDS ${headers}/${room}/*.cpp)
  endforeach()
  # The passes and what they are made of, which are headers, compiled once.
  headrace_room(passes "${compiled_sources}" headrace_headrace)
  target_compile_definitions(headrace_passes PUBLIC HEADRACE_COMPILED)
  include(${CMAKE_CURRENT_LIST_DIR}/declared_passes.cmake)
  if(headrace_is_top_level)
    target_precompile_headers(headrace_passes PRIVATE <headrace/headrace.hpp> <headrace/infer/verify.hpp>
      <headrace/compiled/op_tables.hpp>)
  endif()
  headrace_room(eval "${eval_sources}" headrace_passes Eigen3::Eigen)
  # Constants are folded to the same bits on every machine: no fused multiply-add where the source has none.
  target_compile_options(headrace_eval PUBLIC -ffp-contract=off PRIVATE ${headrace_kernel_flags})
  headrace_room(quantization "${quantization_sources}" headrace_eval)
  headrace_room(banks "${banks_sources}" headrace_eval)
  # Each shared library takes 0.1 ms of every start of the program: its own build takes an archive if there is one.
  find_library(headrace_deflate_archive libdeflate.a HINTS ${headrace_libdeflate_LIBDIR})
  mark_as_advanced(headrace_deflate_archive)
  set(archive)
  if(headrace_is_top_level AND headrace_deflate_archive)
    set(archive $<BUILD_INTERFACE:${headrace_deflate_archive}>)
  endif()
  headrace_room(io "${io_sources}" headrace_banks headrace_tosa ${archive} headrace::libdeflate simdjson::simdjson)
  headrace_room(run "${run_sources}" headrace_quantization headrace_io)
  headrace_room(prove "${prove_sources}" headrace_run)
  headrace_room(lowering "${lowering_sources}" headrace_prove)
  headrace_room(stream "${stream_sources}" headrace_lowering)
  headrace_room(compare "${compare_sources}" headrace_stream)
  headrace_room(show "${show_sources}" headrace_compare)
  headrace_room(opt "${opt_sources}" headrace_show)
  headrace_room(reduce "${reduce_sources}" headrace_opt)
  add_library(headrace_compiled INTERFACE)
  add_library(headrace::compiled ALIAS headrace_compiled)
  target_link_libraries(headrace_compiled INTERFACE headrace_reduce)
  set(rooms reduce opt show compare stream lowering prove run io banks quantization eval passes)
  headrace_install_library(compiled compiled ${rooms})
  list(TRANSFORM rooms PREPEND -lheadrace_ OUTPUT_VARIABLE archives)
  list(JOIN archives " " archives)
  headrace_pkg_config(-compiled "Standard passes, kernels, readers and writers of Headrace"
    "headrace-tosa eigen3 libdeflate simdjson" "-DHEADRACE_COMPILED -ffp-contract=off" "-L\${libdir} ${archives}")
endif()

# The generator of models as C++ types, which the program needs.
if(HEADRACE_EXAMPLES)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(fmt REQUIRED IMPORTED_TARGET fmt)
  find_path(headrace_xxhash xxhash.h REQUIRED)
  mark_as_advanced(headrace_xxhash)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/headrace/firmware/*.cpp)
  add_library(headrace_firmware STATIC ${sources})
  add_library(headrace::firmware ALIAS headrace_firmware)
  target_link_libraries(headrace_firmware PUBLIC headrace_compiled PkgConfig::fmt)
  if(headrace_is_top_level)
    target_compile_options(headrace_firmware PRIVATE ${headrace_warning_flags})
    target_link_libraries(headrace_firmware PRIVATE $<BUILD_INTERFACE:headrace_precompiled>)
    target_precompile_headers(headrace_firmware REUSE_FROM headrace_passes)
    headrace_join_units(headrace_firmware)
  endif()
endif()

# Without the headers of sources that are not installed, or that only compile headers.
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/headrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.hpp" PATTERN firmware EXCLUDE PATTERN compiled EXCLUDE)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(headraceConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/headraceConfig.cmake ${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake
  ${CMAKE_CURRENT_LIST_DIR}/headraceModel.cmake ${CMAKE_CURRENT_BINARY_DIR}/headraceConfigVersion.cmake
  DESTINATION ${headrace_cmake_folder} COMPONENT dev)
