# The header passes/declared_passes.hpp of headrace::compiled, which says what each standard pass targets, removes,
# produces and needs before it. The program made of passes/declare prints it from the definitions of the passes, before
# the library is compiled: one unit for each family, so that an edited pass compiles one of them. When it is not to run on this machine, a build for this machine must have written the header.
set(HEADRACE_DECLARED_PASSES "" CACHE FILEPATH "For cross-compiling: passes/declared_passes.hpp of a host's build")
set(headrace_generated ${CMAKE_CURRENT_BINARY_DIR}/include)
set(declared_passes ${headrace_generated}/headrace/passes/declared_passes.hpp)
if(HEADRACE_DECLARED_PASSES)
  file(STRINGS ${HEADRACE_DECLARED_PASSES} declared_version REGEX "^// Headrace ")
  if(NOT declared_version MATCHES "^// Headrace ${PROJECT_VERSION}:")
    message(FATAL_ERROR "Headrace: HEADRACE_DECLARED_PASSES is not of version ${PROJECT_VERSION}")
  endif()
  configure_file(${HEADRACE_DECLARED_PASSES} ${declared_passes} COPYONLY)
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(FATAL_ERROR "Headrace: to cross-compile headrace::compiled, build the target headrace_declared_passes for "
    "this machine first, and set HEADRACE_DECLARED_PASSES to its include/headrace/passes/declared_passes.hpp; for the "
    "headers alone, set HEADRACE_COMPILED_LIBRARY and HEADRACE_EXAMPLES to OFF")
else()
  file(GLOB declare_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/headrace/passes/declare/*.cpp)
  add_executable(headrace_declare_passes EXCLUDE_FROM_ALL ${declare_sources})
  target_link_libraries(headrace_declare_passes PRIVATE headrace_headrace)
  target_compile_options(headrace_declare_passes PRIVATE -O0 $<$<BOOL:${HEADRACE_SANITIZE}>:-fno-sanitize=all>)
  if(headrace_is_top_level)
    target_compile_options(headrace_declare_passes PRIVATE ${headrace_warning_flags})
    target_link_libraries(headrace_declare_passes PRIVATE headrace_precompiled)
    target_precompile_headers(headrace_declare_passes PRIVATE <headrace/headrace.hpp>)
    if(HEADRACE_JOIN_UNITS)  # as two units, which take two thirds of the time of eight in all
      set_target_properties(headrace_declare_passes PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
    endif()
  endif()
  add_custom_command(OUTPUT ${declared_passes} DEPENDS headrace_declare_passes VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${headrace_generated}/headrace/passes
    COMMAND headrace_declare_passes > ${declared_passes}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${declared_passes}.new ${declared_passes}
    COMMENT "Declaring the standard passes")
endif()
add_custom_target(headrace_declared_passes DEPENDS ${declared_passes})
add_dependencies(headrace_passes headrace_declared_passes)
target_include_directories(headrace_passes PUBLIC $<BUILD_INTERFACE:${headrace_generated}>)
install(FILES ${declared_passes} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headrace/passes COMPONENT dev)
