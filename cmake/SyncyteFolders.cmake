# SPDX-License-Identifier: BSD-3-Clause
# The target that builds what the demo needs.

# demo_programs: the solver, and the libraries that the learners load.
function(syncyte_demo_target)
  add_custom_target(demo_programs)
  foreach(target tsunami_solver syncyte_torch syncyte_hdf5)
    if(TARGET ${target})
      add_dependencies(demo_programs ${target})
    endif()
  endforeach()
endfunction()
