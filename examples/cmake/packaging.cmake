# The documentation (target docs), what is installed beside the libraries, and packages for Debian: cpack makes
# headrace, the program; libheadrace-dev, the libraries; and headrace-doc.
find_package(Python3 QUIET COMPONENTS Interpreter)
find_program(HEADRACE_DOXYGEN doxygen DOC "Doxygen, for the target docs")
set(headrace_docs ${PROJECT_BINARY_DIR}/docs)
if(HEADRACE_DOXYGEN AND Python3_FOUND)
  set(headrace_make_docs ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/examples/docs/make_docs.py ${HEADRACE_DOXYGEN}
    ${PROJECT_VERSION} ${PROJECT_BINARY_DIR}/docs-venv)
  add_custom_target(docs COMMAND ${headrace_make_docs} ${headrace_docs} COMMENT "Writing ${headrace_docs}/html" VERBATIM)
endif()

set(headrace_doc ${CMAKE_INSTALL_DATAROOTDIR}/doc)
install(FILES include/headrace/LICENSE DESTINATION ${headrace_doc}/headrace COMPONENT program RENAME copyright)
install(FILES include/headrace/LICENSE DESTINATION ${headrace_doc}/libheadrace-dev COMPONENT dev RENAME copyright)
install(FILES include/headrace/LICENSE DESTINATION ${headrace_doc}/headrace-doc COMPONENT doc RENAME copyright)
install(FILES README.md CHANGELOG.md DESTINATION ${headrace_doc}/headrace COMPONENT doc)
install(DIRECTORY examples DESTINATION ${headrace_doc}/headrace COMPONENT doc
  PATTERN __pycache__ EXCLUDE PATTERN *.egg-info EXCLUDE)
install(FILES include/headrace/LICENSE DESTINATION ${headrace_doc}/headrace/include/headrace COMPONENT doc)
install(FILES include/headrace/passes/README.md COMPONENT doc
  DESTINATION ${headrace_doc}/headrace/include/headrace/passes)
# Only the packages have it: an installation from a build does not wait for it.
install(DIRECTORY ${headrace_docs}/html DESTINATION ${headrace_doc}/headrace COMPONENT doc OPTIONAL)

# Debian wants a list of changes in each package, compressed without the time.
set(headrace_debian ${PROJECT_BINARY_DIR}/debian)
set(HEADRACE_MAINTAINER "The Headrace authors <headrace@headrace.invalid>" CACHE STRING "Whom the packages name")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${headrace_debian}/changelog "headrace (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
  "  * What changed is in /usr/share/doc/headrace/CHANGELOG.md of headrace-doc.\n\n"
  " -- ${HEADRACE_MAINTAINER}  ${date}\n")
find_program(HEADRACE_GZIP gzip)
if(HEADRACE_GZIP)
  execute_process(COMMAND ${HEADRACE_GZIP} -9nf ${headrace_debian}/changelog)
  foreach(part program:headrace dev:libheadrace-dev doc:headrace-doc)
    string(REPLACE ":" ";" part ${part})
    list(GET part 0 component)
    list(GET part 1 package)
    install(FILES ${headrace_debian}/changelog.gz DESTINATION ${headrace_doc}/${package} COMPONENT ${component})
  endforeach()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME headrace)
set(CPACK_PACKAGE_CONTACT ${HEADRACE_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/examples/cmake/compress_manual.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL dev doc)
if(HEADRACE_EXAMPLES)
  list(APPEND CPACK_COMPONENTS_ALL program)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME headrace)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "headrace-doc, graphviz")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "compiler of PyTorch exports to TOSA and ExecuTorch
Lowers models that torch.export.save wrote to TOSA 1.0 flatbuffers, for NPUs
and other compilers, or to programs for the runtime of ExecuTorch. Quantizes
float models by samples, executes models at any stage, and shows what each
pass did.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libheadrace-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libboost-dev (>= 1.74), python3:any")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "headrace (= ${PROJECT_VERSION}), pkg-config, libeigen3-dev (>= 3.4), \
libdeflate-dev (>= 1.3), libsimdjson-dev (>= 3.0), \
libflatbuffers-dev (>= 2.0), flatbuffers-compiler-dev (>= 2.0)")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS headrace-doc)
set(CPACK_COMPONENT_DEV_DESCRIPTION "static compiler pipelines over tensor graphs in C++20
Headers for compiler pipelines over tensor graphs, whose
legality, order and operator support the C++ compiler proves, with the
dialects of PyTorch and TOSA 1.0 and the passes between them. The core needs
Boost alone. What the program does is in static libraries: executing,
quantizing, reading, lowering and comparing models, with the recommended
packages.")

set(CPACK_DEBIAN_DOC_PACKAGE_NAME headrace-doc)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_DOC_DESCRIPTION "compiler pipelines over tensor graphs - documentation
Pages by task, tables of all ops, the API by topics, and the examples, for
the program headrace and for libheadrace-dev.")
include(CPack)
