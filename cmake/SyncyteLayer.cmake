# SPDX-License-Identifier: BSD-3-Clause
# syncyte_layer(NAME SOURCES ... [LINK ...]): one layer of the core. Its objects go into libsyncyte and, with symbols
# visible to tests, into the static library syncyte_core. LINK names lower layers' targets and libraries.
function(syncyte_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;LINK" ${ARGN})
  add_library(syncyte_${name} OBJECT ${LAYER_SOURCES})
  target_include_directories(syncyte_${name} PUBLIC
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/capi/include")
  target_link_libraries(syncyte_${name} PUBLIC ${LAYER_LINK} PRIVATE syncyte_warnings)
  set_property(GLOBAL APPEND PROPERTY SYNCYTE_LAYERS syncyte_${name})
endfunction()
