# Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The build's own tools: ccache and lld, each used where it is found.

if(HLA_USE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(HLA_CCACHE ccache)
  mark_as_advanced(HLA_CCACHE)
  if(HLA_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER "${HLA_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${HLA_CCACHE}")
  endif()
endif()

if(HLA_USE_LLD AND UNIX AND NOT APPLE)
  # Debian puts the plain name ld.lld only in LLVM's own folder, where neither
  # g++ nor clang looks, hence -B.
  find_program(HLA_LLD ld.lld
               HINTS "${LLVM_TOOLS_BINARY_DIR}" /usr/lib/llvm-22/bin)
  mark_as_advanced(HLA_LLD)
  if(HLA_LLD)
    cmake_path(GET HLA_LLD PARENT_PATH _hla_lld_folder)
    add_link_options(-fuse-ld=lld "-B${_hla_lld_folder}")
  endif()
endif()

message(STATUS "HLA: ccache ${HLA_CCACHE}, lld ${HLA_LLD}")
