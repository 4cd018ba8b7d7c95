# What the libraries need, found alike from the source tree and from an installed package. Only Boost is required: the
# target of a library whose dependency is missing exists, but does not link.
find_package(Boost 1.74 REQUIRED)
find_package(Eigen3 3.4 QUIET NO_MODULE)
find_package(simdjson 3.0 QUIET CONFIG)
find_package(FlatBuffers 2.0 QUIET CONFIG)
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND AND NOT TARGET headrace::libzip)
  pkg_check_modules(headrace_libzip QUIET IMPORTED_TARGET GLOBAL libzip>=1.7)
  if(TARGET PkgConfig::headrace_libzip)
    add_library(headrace::libzip ALIAS PkgConfig::headrace_libzip)
  endif()
endif()
# Debian's package has the library without an imported target for its shared form.
if(NOT TARGET flatbuffers::flatbuffers)
  if(TARGET flatbuffers::flatbuffers_shared)
    add_library(flatbuffers::flatbuffers ALIAS flatbuffers::flatbuffers_shared)
  endif()
endif()
