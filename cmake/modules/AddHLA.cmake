# Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions to declare the parts of HLA.
#
#   add_hla_library     a library, exported in the CMake package HLA
#   add_hla_tool        an executable, installed beside them
#   add_hla_tablegen    what mlir-tblgen makes of a folder of .td files, and its docs
#   add_hla_passes      what it makes of a Passes.td, and its docs
#   add_hla_unittest    a GoogleTest executable that check-hla-unit runs
#
# The compiler links libMLIR.so and libLLVM.so, never MLIR's archives: a
# process that holds both has two copies of every TypeID.

include_guard(GLOBAL)

# The target that makes all generated documentation, in build/docs.
add_custom_target(hla-doc)

# Compile options of one target. RUNTIME code may use exceptions and sees no
# MLIR; compiler code follows the flags that LLVM was built with.
function(_hla_compile_options target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "RUNTIME" "" "")
  set(warnings -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Misfire in MLIR's inline functions, or, the last, give up with a note on
    # headers as long as MLIR's.
    list(APPEND warnings -Wno-maybe-uninitialized -Wno-class-memaccess
         -Wno-misleading-indentation)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      list(APPEND warnings -Wno-dangling-reference)
    endif()
  endif()
  if(HLA_WERROR)
    list(APPEND warnings -Werror)
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>"
    "$<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>")
  if(ARG_RUNTIME)
    return()
  endif()
  if(NOT LLVM_ENABLE_EH)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>")
  endif()
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>")
  endif()
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  list(TRANSFORM definitions REPLACE "^-D" "")
  target_compile_definitions(${target} PRIVATE ${definitions})
endfunction()

# Refuses what would bring a second copy of MLIR or LLVM into the process, and
# gives HLA's own libraries their alias in the list `libs`: a name with `::` that
# is no target is an error of CMake's, not a flag for the linker.
function(_hla_check_link_libs target libs)
  foreach(lib IN LISTS ${libs})
    if(lib MATCHES "^(MLIR|LLVM).+" AND NOT lib STREQUAL "MLIRExecutionEngineShared")
      message(FATAL_ERROR "${target}: expected no archive of MLIR or LLVM in LINK_LIBS "
                          "(libMLIR.so and libLLVM.so are linked already), but got ${lib}")
    endif()
  endforeach()
  list(TRANSFORM ${libs} REPLACE "^(HLA[A-Za-z0-9]+)$" "HLA::\\1")
  set(${libs} "${${libs}}" PARENT_SCOPE)
endfunction()

# add_hla_library(<name> <source>...
#                 [SHARED] [RUNTIME]
#                 [DEPENDS <tablegen target>...]
#                 [LINK_LIBS [PUBLIC|PRIVATE|INTERFACE] <library>...])
#
# Static and position independent unless SHARED. RUNTIME: no MLIR, and exported
# as the package's component Runtime; otherwise component Compiler. Libraries in
# LINK_LIBS are PUBLIC unless said otherwise. Of DEPENDS, name what the sources
# include; what linked libraries depend on comes with them. Consumers outside
# the build tree see HLA::<name>, and so may those inside.
function(add_hla_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "SHARED;RUNTIME" "" "DEPENDS;LINK_LIBS")
  set(type STATIC)
  if(ARG_SHARED)
    set(type SHARED)
  endif()
  add_library(${name} ${type} ${ARG_UNPARSED_ARGUMENTS})
  add_library(HLA::${name} ALIAS ${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  _hla_check_link_libs(${name} ARG_LINK_LIBS)
  if(ARG_LINK_LIBS)
    list(GET ARG_LINK_LIBS 0 first)
    if(NOT first MATCHES "^(PUBLIC|PRIVATE|INTERFACE)$")
      list(PREPEND ARG_LINK_LIBS PUBLIC)
    endif()
    target_link_libraries(${name} ${ARG_LINK_LIBS})
  endif()
  target_include_directories(${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

  if(ARG_RUNTIME)
    _hla_compile_options(${name} RUNTIME)
    set(component Runtime)
  else()
    _hla_compile_options(${name})
    target_include_directories(${name} SYSTEM INTERFACE
      "$<INSTALL_INTERFACE:${MLIR_INCLUDE_DIRS}>")
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    set(component Compiler)
  endif()
  install(TARGETS ${name} EXPORT HLA${component}Targets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
          RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ${component})
  set_property(GLOBAL APPEND PROPERTY HLA_${component}_LIBS ${name})
endfunction()

# add_hla_tool(<name> <source>... [DEPENDS <target>...] [LINK_LIBS <library>...])
#
# An executable of the compiler, in build/bin and in the package.
function(add_hla_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "DEPENDS;LINK_LIBS")
  _hla_check_link_libs(${name} ARG_LINK_LIBS)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _hla_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  install(TARGETS ${name} EXPORT HLACompilerTargets
          RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Compiler)
  set_property(GLOBAL APPEND PROPERTY HLA_TOOLS ${name})
endfunction()

# add_hla_unittest(<name> <source>... [RUNTIME] [LINK_LIBS <library>...])
#
# A GoogleTest executable with gtest's own main, in build/test/unit. It is run
# by check-hla-unit. RUNTIME: the test sees no MLIR.
function(add_hla_unittest name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "RUNTIME" "" "LINK_LIBS")
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test/unit")
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main)
  if(ARG_RUNTIME)
    _hla_compile_options(${name} RUNTIME)
  else()
    _hla_compile_options(${name})
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
  set_property(GLOBAL APPEND PROPERTY HLA_UNITTESTS ${name})
endfunction()

# One .td file to <stem>.h.inc and <stem>.cpp.inc, by the generators
# -gen-<kind>-decls and -gen-<kind>-defs.
function(_hla_tablegen_pair td kind)
  cmake_path(GET td STEM stem)
  set(LLVM_TARGET_DEFINITIONS "${td}")
  tablegen(MLIR "${stem}.h.inc" -gen-${kind}-decls ${ARGN})
  tablegen(MLIR "${stem}.cpp.inc" -gen-${kind}-defs ${ARGN})
  set(TABLEGEN_OUTPUT "${TABLEGEN_OUTPUT}" PARENT_SCOPE)
endfunction()

# add_hla_tablegen(<target> NAMESPACE <dialect namespace>
#                  [DIALECT <file>.td] [OPS <file>.td...] [TYPES <file>.td...]
#                  [ATTRS <file>.td...] [ENUMS <file>.td...]
#                  [OP_INTERFACES <file>.td...] [ATTR_INTERFACES <file>.td...]
#                  [TYPE_INTERFACES <file>.td...]
#                  [DOC <name>])
#
# Each file gives <stem>.h.inc and <stem>.cpp.inc in the build tree's copy of
# the folder, so that `#include "hla/Dialect/…/IR/HLAOps.h.inc"` finds it. Keep
# a dialect's parts in files of their own: a generator takes all of its kind
# that it sees, enums even those of included files. Ops and docs are limited to
# the dialect by NAMESPACE.
# DOC: build/docs/Dialects/<name>.md, the reference of the whole dialect, made
# from the first OPS file, which includes the others.
function(add_hla_tablegen target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAMESPACE;DIALECT;DOC"
    "OPS;TYPES;ATTRS;ENUMS;OP_INTERFACES;ATTR_INTERFACES;TYPE_INTERFACES")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${target}: expected a keyword of add_hla_tablegen, "
                        "but got ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(TABLEGEN_OUTPUT)
  if(ARG_DIALECT)
    _hla_tablegen_pair(${ARG_DIALECT} dialect "-dialect=${ARG_NAMESPACE}")
  endif()
  foreach(td IN LISTS ARG_OPS)
    _hla_tablegen_pair(${td} op "-op-include-regex=^${ARG_NAMESPACE}\\.")
  endforeach()
  foreach(td IN LISTS ARG_TYPES)
    _hla_tablegen_pair(${td} typedef "-typedefs-dialect=${ARG_NAMESPACE}")
  endforeach()
  foreach(td IN LISTS ARG_ATTRS)
    _hla_tablegen_pair(${td} attrdef "-attrdefs-dialect=${ARG_NAMESPACE}")
  endforeach()
  foreach(td IN LISTS ARG_ENUMS)
    _hla_tablegen_pair(${td} enum)
  endforeach()
  foreach(kind OP ATTR TYPE)
    string(TOLOWER ${kind} lower)
    foreach(td IN LISTS ARG_${kind}_INTERFACES)
      _hla_tablegen_pair(${td} ${lower}-interface)
    endforeach()
  endforeach()
  add_public_tablegen_target(${target})
  if(ARG_DOC)
    list(GET ARG_OPS 0 td)
    _hla_tablegen_doc(${td} "Dialects/${ARG_DOC}" -gen-dialect-doc "-dialect=${ARG_NAMESPACE}")
  endif()
endfunction()

# add_hla_passes(<target> <file>.td NAME <group> [DOC <name>])
#
# <stem>.h.inc with the declarations of the file's passes and the registration
# function register<group>Passes(). DOC: build/docs/Passes/<name>.md.
function(add_hla_passes target td)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "NAME;DOC" "")
  if(NOT ARG_NAME OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${target}: expected NAME <group> [DOC <name>], "
                        "but got ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(TABLEGEN_OUTPUT)
  cmake_path(GET td STEM stem)
  set(LLVM_TARGET_DEFINITIONS "${td}")
  tablegen(MLIR "${stem}.h.inc" -gen-pass-decls -name=${ARG_NAME})
  add_public_tablegen_target(${target})
  if(ARG_DOC)
    _hla_tablegen_doc(${td} "Passes/${ARG_DOC}" -gen-pass-doc)
  endif()
endfunction()

# build/docs/<page>.md by one of mlir-tblgen's documentation generators, as part
# of the target hla-doc.
function(_hla_tablegen_doc td page)
  set(LLVM_TARGET_DEFINITIONS "${td}")
  set(TABLEGEN_OUTPUT)
  cmake_path(GET page FILENAME name)
  tablegen(MLIR "${name}.md" ${ARGN})
  set(output "${PROJECT_BINARY_DIR}/docs/${page}.md")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${CMAKE_CURRENT_BINARY_DIR}/${name}.md" "${output}"
    DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/${name}.md"
    VERBATIM)
  string(MAKE_C_IDENTIFIER "hla-doc-${page}" target)
  add_custom_target(${target} DEPENDS "${output}")
  add_dependencies(hla-doc ${target})
endfunction()

# Installs headers, export sets and the files that find_package(HLA) reads.
# Called once, after all targets are declared.
function(hla_install_package)
  include(CMakePackageConfigHelpers)
  set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/HLA")

  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/hla-c"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT Runtime
          FILES_MATCHING PATTERN "Runtime*.h")
  set(components Runtime)
  if(HLA_BUILD_COMPILER)
    list(APPEND components Compiler)
    foreach(tree SOURCE BINARY)
      install(DIRECTORY "${PROJECT_${tree}_DIR}/include/"
              DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT Compiler
              FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
              PATTERN "CMakeFiles" EXCLUDE)
    endforeach()
  endif()

  foreach(component IN LISTS components)
    get_property(libs GLOBAL PROPERTY HLA_${component}_LIBS)
    if(libs)
      install(EXPORT HLA${component}Targets NAMESPACE HLA::
              DESTINATION "${package_folder}" COMPONENT ${component})
    endif()
  endforeach()
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/modules/HLAConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/cmake/HLAConfig.cmake"
    INSTALL_DESTINATION "${package_folder}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/HLAConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/cmake/HLAConfig.cmake"
                "${PROJECT_BINARY_DIR}/cmake/HLAConfigVersion.cmake"
          DESTINATION "${package_folder}" COMPONENT Runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
          DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT Runtime)
endfunction()
