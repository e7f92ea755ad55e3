# SPDX-License-Identifier: BSD-3-Clause
# Declares tests that run under mpirun. tests/README.md says what each label covers and how long it takes.
#
#   syncyte_mpi_test(NAME base LABELS core SOURCES a.cpp b.cpp RANKS 3 MORE_RANKS 1 2 5 7 LINK syncyte_core)
#     A GoogleTest program (target test_<NAME>) with the harness's main: MPI is initialized with MPI_THREAD_MULTIPLE,
#     MPI_COMM_WORLD has all ranks. Write plain TEST()s: each runs on all ranks, and passes if it passes on all of them.
#   syncyte_mpi_test(NAME window_remote TARGET test_window ONLY "window.*" RANKS 2 ENV SYNCYTE_SHM=none)
#     Runs tests of a program that the same CMakeLists.txt declares once more, with other options. ONLY "!window.*" runs
#     all but these.
#   syncyte_pytest(NAME python LABELS python FILES test_a.py test_b.py RANKS 3 MORE_RANKS 1 2 5)
#     pytest under mpirun with mpi4py's MPI.COMM_WORLD. The cases of a parametrised function share one CTest entry.
#     Cases marked pytest.mark.thorough run only at MORE_RANKS, or if LABELS has slow.
#   syncyte_mpi_program_test(NAME solver LABELS fortran SOURCES solver.f90 RANKS 3 LINK syncyte_fortran)
#   syncyte_mpi_program_test(NAME demo LABELS slow COMMAND prog --flag RANKS 2)
#   syncyte_mpi_program_test(NAME demo LABELS slow COMMAND 2 solver : 1 learner RANKS 3)     (MPMD: each with its count)
#     A plain program in any language: it passes if all ranks exit with 0, and is skipped if they exit with 77.
#
#   syncyte_virtual_host_test(NAME window_hosts TARGET test_window RANKS_PER_HOST 1 2 [ONLY Suite.A Suite.B])
#   syncyte_virtual_host_test(NAME hello_hosts KIND program TARGET hello RANKS_PER_HOST 2)
#   syncyte_virtual_host_test(NAME script_hosts COMMAND python script.py RANKS_PER_HOST 2)
#     A program on two virtual hosts (HOSTS n), which are network namespaces and share no memory; skipped with a reason
#     if the machine forbids namespaces. One CTest entry for each number of ranks on a host. Default label: slow.
#     Tests may cut links between hosts and limit their rate (tests/support/links.h); tests/support/virtual_hosts.py says
#     what Open MPI does then. With MPIRUN_FLAGS --enable-recovery the other ranks continue when one is killed; mpirun
#     then exits with 0, so such a test needs the property PASS_REGULAR_EXPRESSION. With DELAY n each packet between
#     hosts arrives n milliseconds later, and links cannot be changed.
#   syncyte_kill_test(NAME tensor_leaks PROGRAM tensor_loop [ROUNDS 4] [GRACE 15] RANKS 2)
#     Kills ranks and mpirun of an endless program (a target) with kill -9; no process, file or segment may be left. With
#     STEPS a b c the program kills a rank of its own at the step that is its last argument, one round for each step.
#
# Common options:
#   RANKS 3                   rank counts of the default run; one mpirun per count runs all tests of the program
#   MORE_RANKS 1 2 5 7        further rank counts, with the label ranks (default of both: RANKS 3 MORE_RANKS 1 2 5 7)
#   LABELS a b                CTest labels
#   SLOTS 3                   CTest's PROCESSORS; quickstart.sh gives CTest three per core. 1: ranks that mostly wait;
#                             2: default of plain programs; 3: one busy core (default of all others); 4: two busy cores
#                             (with 6 nothing else would run on two cores)
#   COST 60                   duration in seconds, roughly: CTest starts long tests first (default 0)
#   NEEDS /dev/nvidiactl      skips all tests if this file does not exist (GoogleTest and pytest only)
#   TIMEOUT_PER_TEST 20       limit of one test on all ranks, in seconds. After it the run ends, the test fails with a
#                             message that says where each rank is, and the remaining tests run again without it
#   TIMEOUT 300               limit of a whole run, in seconds
#   ENV A=b ...               environment of the ranks (generator expressions allowed)
#   ARGS ...                  arguments of a program test
#   MPIRUN_FLAGS ...          further flags of mpirun, for example --enable-recovery
#
# Entries of CTest: <NAME>.np<R>/<test> for each test (one for all cases of a parametrised one), <NAME>.np<R>/(job) for
# failures outside of tests (start, exit), and <NAME>.np<R>.run, the fixture that runs mpirun; `ctest -R <test>` starts
# the fixture too. A test also fails if it leaves a message on MPI_COMM_WORLD unreceived. Each run has its own working
# folder (SYNCYTE_TEST_FOLDER).
# Results, output and JUnit: <binary dir>/<NAME>.tests/np<R>/.

include_guard(GLOBAL)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(SYNCYTE_LAUNCH "${PROJECT_SOURCE_DIR}/tests/support/launch.py")
set(SYNCYTE_TEST_PYTHON "${PROJECT_SOURCE_DIR}/tests/support/python")
file(GLOB SYNCYTE_HARNESS_FILES "${SYNCYTE_TEST_PYTHON}/mpi_harness/*.py")
list(APPEND SYNCYTE_HARNESS_FILES "${SYNCYTE_LAUNCH}")
# Tests find the build first, and then what this configuration's Python finds by the variable: Spack gives numpy so.
string(JOIN ":" SYNCYTE_TEST_PYTHONPATH "${PROJECT_BINARY_DIR}/python" $ENV{PYTHONPATH})
# Labels of the core's tests. Folders that declare such tests are in the global property SYNCYTE_CORE_FOLDERS.
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/mpi/core_labels.txt)
file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/mpi/core_labels.txt" SYNCYTE_CORE_LABELS)

# The command mpirun|its flags|the rank count's flag. Open MPI's mpirun tags each line of output with its rank.
function(_syncyte_mpirun output)
  set(command "${MPIEXEC_EXECUTABLE}")
  execute_process(COMMAND "${MPIEXEC_EXECUTABLE}" --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(version MATCHES "Open MPI|OpenRTE|PRRTE")
    list(APPEND command --tag-output)
  endif()
  list(APPEND command ${MPIEXEC_PREFLAGS} "${MPIEXEC_NUMPROC_FLAG}")
  list(JOIN command "|" command)
  set(${output} "${command}" PARENT_SCOPE)
endfunction()
_syncyte_mpirun(SYNCYTE_MPIRUN)

# Environment of tests that start mpirun themselves: allows root and more ranks than cores, in Open MPI 4 and 5.
set(SYNCYTE_MPI_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none PRTE_ALLOW_RUN_AS_ROOT=1
    PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)

# Debian 13's mpirun crashes if it is given several programs (open-mpi/ompi#13303): syncyte-mpmd runs them there.
set(SYNCYTE_MPMD "${PROJECT_SOURCE_DIR}/tools/syncyte-mpmd")
if(NOT DEFINED SYNCYTE_MPIRUN_TAKES_PROGRAMS)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env ${SYNCYTE_MPI_ENVIRONMENT}
            "${MPIEXEC_EXECUTABLE}" "${MPIEXEC_NUMPROC_FLAG}" 1 true : "${MPIEXEC_NUMPROC_FLAG}" 1 true
    RESULT_VARIABLE status TIMEOUT 30 OUTPUT_QUIET ERROR_QUIET)
  set(takes ON)
  if(NOT status EQUAL 0)
    message(STATUS "${MPIEXEC_EXECUTABLE} fails for several programs in one job (${status}): tests use syncyte-mpmd")
    set(takes OFF)
  endif()
  set(SYNCYTE_MPIRUN_TAKES_PROGRAMS ${takes} CACHE INTERNAL "Whether mpirun runs several programs in one job")
endif()
# Launcher of several programs in one job; empty where mpirun starts them itself.
set(SYNCYTE_MPMD_FLAG "")
if(NOT SYNCYTE_MPIRUN_TAKES_PROGRAMS)
  set(SYNCYTE_MPMD_FLAG "--mpmd=${SYNCYTE_MPMD}")
endif()

# Parses the options that all kinds of tests share into variables TEST_*.
macro(_syncyte_parse_test)
  cmake_parse_arguments(TEST ""
                        "NAME;TIMEOUT_PER_TEST;TIMEOUT;TARGET;KIND;HOSTS;DELAY;ROUNDS;GRACE;PROGRAM;SLOTS;COST;NEEDS"
                        "LABELS;SOURCES;FILES;COMMAND;RANKS;MORE_RANKS;LINK;ENV;ARGS;RANKS_PER_HOST;ONLY;MPIRUN_FLAGS;STEPS"
                        ${ARGN})
  if(NOT TEST_NAME OR TEST_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${CMAKE_CURRENT_FUNCTION}: NAME is missing, or unknown: ${TEST_UNPARSED_ARGUMENTS}")
  endif()
  foreach(label IN LISTS TEST_LABELS)
    if(label IN_LIST SYNCYTE_CORE_LABELS)
      set_property(GLOBAL APPEND PROPERTY SYNCYTE_CORE_FOLDERS "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
  endforeach()
  if(NOT TEST_RANKS AND NOT TEST_MORE_RANKS AND NOT TEST_RANKS_PER_HOST)
    set(TEST_RANKS 3)
    set(TEST_MORE_RANKS 1 2 5 7)
  endif()
  if(NOT TEST_COST)
    set(TEST_COST 0)
  endif()
  if(NOT TEST_TIMEOUT_PER_TEST)
    set(TEST_TIMEOUT_PER_TEST 20)
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  set(TEST_FOLDER "${CMAKE_CURRENT_BINARY_DIR}/${TEST_NAME}.tests")
  set(environment "${TEST_ENV}")
  list(TRANSFORM environment PREPEND "--env=")
  set(mpirun "${SYNCYTE_MPIRUN}")
  foreach(flag IN LISTS TEST_MPIRUN_FLAGS)
    string(REGEX REPLACE "\\|([^|]*)$" "|${flag}|\\1" mpirun "${mpirun}")
  endforeach()
  set(TEST_LIMITS "--mpirun=${mpirun}" --limit=${TEST_TIMEOUT_PER_TEST} ${environment})
endmacro()

# _syncyte_refuse(OPTION...): an error if one of these options is given; this kind of test does not have them.
function(_syncyte_refuse)
  foreach(option IN LISTS ARGN)
    if(DEFINED TEST_${option})
      message(FATAL_ERROR "${TEST_NAME}: this kind of test has no option ${option}")
    endif()
  endforeach()
endfunction()

# The command that finds the tests in FILES and declares them; CTest includes what it writes.
function(_syncyte_discover output kind files)
  set(declared "${TEST_FOLDER}/declared.cmake")
  set(include "${CMAKE_CURRENT_BINARY_DIR}/${TEST_NAME}.include.cmake")
  file(WRITE "${include}" "if(EXISTS [==[${declared}]==])\n  include([==[${declared}]==])\nelse()\n"
                          "  add_test([==[${TEST_NAME}.NOT_BUILT]==] ${TEST_NAME}_has_not_been_built)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
  list(JOIN TEST_LABELS "," labels)
  list(JOIN TEST_RANKS "," ranks)
  list(JOIN TEST_MORE_RANKS "," more_ranks)
  if(NOT TEST_SLOTS)
    set(TEST_SLOTS 3)
  endif()
  if(TEST_NEEDS)
    list(APPEND TEST_LIMITS "--needs=${TEST_NEEDS}")
  endif()
  list(JOIN TEST_ONLY "," only)
  set(${output} "${Python3_EXECUTABLE}" -B "${SYNCYTE_LAUNCH}" discover --name=${TEST_NAME} "--output=${declared}"
      --kind=${kind} "--only=${only}" --labels=${labels} --ranks=${ranks} --more-ranks=${more_ranks} --slots=${TEST_SLOTS}
      --cost=${TEST_COST} "--folder=${TEST_FOLDER}" ${TEST_LIMITS} --total=${TEST_TIMEOUT} ${files} PARENT_SCOPE)
endfunction()

function(syncyte_mpi_test)
  _syncyte_parse_test(${ARGN})
  set(target ${TEST_TARGET})
  if(NOT target)
    set(target test_${TEST_NAME})
    add_executable(${target} ${TEST_SOURCES})
    target_link_libraries(${target} PRIVATE ${TEST_LINK} syncyte_test_main syncyte_warnings)
    # Exports the program's functions, so that the stacks of ranks that hang have names.
    set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON CXX_VISIBILITY_PRESET default)
  endif()
  _syncyte_discover(command gtest "$<TARGET_FILE:${target}>")
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${command} VERBATIM)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${SYNCYTE_HARNESS_FILES}")
endfunction()

function(syncyte_pytest)
  _syncyte_parse_test(${ARGN})
  list(TRANSFORM TEST_FILES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  list(APPEND TEST_LIMITS "--env=PYTHONPATH=${SYNCYTE_TEST_PYTHONPATH}")
  if(TARGET syncyte)
    list(APPEND TEST_LIMITS "--env=SYNCYTE_LIBRARY=$<TARGET_FILE:syncyte>")
  endif()
  _syncyte_discover(command pytest "${TEST_FILES}")
  add_custom_command(OUTPUT "${TEST_FOLDER}/declared.cmake" COMMAND ${command} VERBATIM
                     DEPENDS ${TEST_FILES} ${SYNCYTE_HARNESS_FILES} COMMENT "Finding the tests of ${TEST_NAME}")
  add_custom_target(test_${TEST_NAME} ALL DEPENDS "${TEST_FOLDER}/declared.cmake")
endfunction()

function(syncyte_mpi_program_test)
  _syncyte_parse_test(${ARGN})
  set(program ${TEST_COMMAND})
  if(TEST_SOURCES)
    add_executable(test_${TEST_NAME} ${TEST_SOURCES})
    target_link_libraries(test_${TEST_NAME} PRIVATE ${TEST_LINK} syncyte_warnings)
    set(program "$<TARGET_FILE:test_${TEST_NAME}>")
  endif()
  _syncyte_refuse(NEEDS ONLY)
  math(EXPR outer "${TEST_TIMEOUT_PER_TEST} + 30")
  if(NOT TEST_SLOTS)
    set(TEST_SLOTS 2)
  endif()
  foreach(ranks IN LISTS TEST_RANKS TEST_MORE_RANKS)
    set(labels ${TEST_LABELS})
    if(ranks IN_LIST TEST_MORE_RANKS)
      list(APPEND labels ranks)
    endif()
    set(test ${TEST_NAME}.np${ranks})
    add_test(NAME ${test} COMMAND "${Python3_EXECUTABLE}" -B "${SYNCYTE_LAUNCH}" program ${TEST_LIMITS} ${SYNCYTE_MPMD_FLAG}
             --ranks=${ranks} "--folder=${TEST_FOLDER}/np${ranks}" -- ${program} ${TEST_ARGS})
    set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT ${outer} SKIP_RETURN_CODE 77
                                            PROCESSORS ${TEST_SLOTS} COST ${TEST_COST})
  endforeach()
endfunction()

function(syncyte_virtual_host_test)
  if(NOT SYNCYTE_MPIRUN MATCHES "--tag-output")  # the hosts are named by flags of Open MPI's mpirun
    return()
  endif()
  _syncyte_parse_test(${ARGN})
  _syncyte_refuse(NEEDS SLOTS RANKS MORE_RANKS)
  if(NOT TEST_HOSTS)
    set(TEST_HOSTS 2)
  endif()
  if(NOT TEST_LABELS)
    set(TEST_LABELS slow)
  endif()
  list(FILTER TEST_LIMITS EXCLUDE REGEX "^--mpirun=")
  list(TRANSFORM TEST_MPIRUN_FLAGS PREPEND "--mpirun-flag=")
  list(JOIN TEST_ONLY "," only)
  if(TEST_DELAY)
    set(network "--delay=${TEST_DELAY}")
  endif()
  foreach(per_host IN LISTS TEST_RANKS_PER_HOST)
    set(test ${TEST_NAME}.hosts${TEST_HOSTS}x${per_host})
    math(EXPR ranks "${TEST_HOSTS} * ${per_host}")
    set(options --ranks=${ranks} "--folder=${TEST_FOLDER}/${test}" "--mpirun={mpirun}" ${TEST_LIMITS})
    if(TEST_COMMAND)
      set(command program ${options} -- ${TEST_COMMAND})
    elseif(TEST_KIND STREQUAL "program")
      set(command program ${options} -- "$<TARGET_FILE:${TEST_TARGET}>" ${TEST_ARGS})
    else()
      set(command run --strict ${options} --total=${TEST_TIMEOUT} --only=${only} "$<TARGET_FILE:${TEST_TARGET}>")
    endif()
    add_test(NAME ${test} COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tests/support/virtual_hosts.py"
             --hosts=${TEST_HOSTS} --per-host=${per_host} ${network} "--mpirun=${MPIEXEC_EXECUTABLE}"
             ${TEST_MPIRUN_FLAGS} -- "${Python3_EXECUTABLE}" -B "${SYNCYTE_LAUNCH}" ${command})
    math(EXPR outer "${TEST_TIMEOUT} + 30")
    set_tests_properties(${test} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${outer} SKIP_RETURN_CODE 77
                                            PROCESSORS 2)
  endforeach()
endfunction()

function(syncyte_kill_test)
  _syncyte_parse_test(${ARGN})
  _syncyte_refuse(NEEDS SLOTS ONLY MPIRUN_FLAGS MORE_RANKS)
  if(NOT TEST_ROUNDS)
    set(TEST_ROUNDS 4)
  endif()
  if(NOT TEST_GRACE)
    set(TEST_GRACE 15)
  endif()
  set(steps)
  if(TEST_STEPS)
    list(JOIN TEST_STEPS "," steps)
    set(steps "--steps=${steps}")
  endif()
  foreach(ranks IN LISTS TEST_RANKS)
    set(test ${TEST_NAME}.kill.np${ranks})
    add_test(NAME ${test} COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tests/support/kill_loop.py"
             --ranks=${ranks} --rounds=${TEST_ROUNDS} --grace=${TEST_GRACE} "--mpirun=${SYNCYTE_MPIRUN}"
             ${steps} --
             "$<TARGET_FILE:${TEST_PROGRAM}>" ${TEST_ARGS})
    set_tests_properties(${test} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} PROCESSORS 1
                                            COST ${TEST_COST} ENVIRONMENT "${TEST_ENV}" RESOURCE_LOCK dev_shm)
  endforeach()
endfunction()
