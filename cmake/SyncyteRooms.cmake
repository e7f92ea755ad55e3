# Rooms of the house, and the target that builds what the demo needs.

# syncyte_room(FOLDER): adds the folder where it has a CMakeLists.txt.
macro(syncyte_room folder)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    add_subdirectory(${folder})
  endif()
endmacro()

# All targets below a folder of the source tree that has been added; empty where it has not.
function(syncyte_targets_below folder result)
  set(found "")
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    get_property(found DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    get_property(children DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" PROPERTY SUBDIRECTORIES)
    foreach(child IN LISTS children)
      cmake_path(RELATIVE_PATH child BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
      syncyte_targets_below("${child}" more)
      list(APPEND found ${more})
    endforeach()
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# demo_programs: the libraries and the examples, without tests and benchmarks.
function(syncyte_demo_target)
  add_custom_target(demo_programs)
  set(folders capi)
  foreach(option_folder FORTRAN:bindings/fortran TORCH:bindings/torch HDF5:bindings/hdf5 PYTHON:bindings/python
          EXAMPLES:examples)
    string(REPLACE ":" ";" pair ${option_folder})
    list(GET pair 0 option)
    list(GET pair 1 folder)
    if(SYNCYTE_${option})
      list(APPEND folders ${folder})
    endif()
  endforeach()
  foreach(folder IN LISTS folders)
    syncyte_targets_below(${folder} targets)
    if(targets)
      add_dependencies(demo_programs ${targets})
    endif()
  endforeach()
endfunction()
