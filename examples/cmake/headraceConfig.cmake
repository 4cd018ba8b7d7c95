include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/headraceTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/headraceModel.cmake)
