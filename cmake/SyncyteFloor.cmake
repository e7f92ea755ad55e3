# syncyte_floor(NAME SOURCES ... [LINK ...]): one floor of the core. Its objects go into libsyncyte and, with symbols
# visible to tests, into the static library syncyte_core. LINK names lower floors' targets and libraries.
function(syncyte_floor name)
  cmake_parse_arguments(FLOOR "" "" "SOURCES;LINK" ${ARGN})
  add_library(syncyte_${name} OBJECT ${FLOOR_SOURCES})
  target_include_directories(syncyte_${name} PUBLIC
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/capi/include")
  target_link_libraries(syncyte_${name} PUBLIC ${FLOOR_LINK} PRIVATE syncyte_warnings)
  set_property(GLOBAL APPEND PROPERTY SYNCYTE_FLOORS syncyte_${name})
endfunction()
