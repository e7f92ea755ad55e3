// SPDX-License-Identifier: BSD-3-Clause
// The compiled kernels, as bytes of this library. CMakeLists.txt defines SYNCYTE_KERNELS, the file's name, and
// SYNCYTE_TOOLKIT, the version of CUDA that has compiled them.
#include "rows/kernels.hpp"

// The assembler's .incbin reads the file.
asm(".section .rodata\n"
    ".balign 16\n"
    ".hidden syncyte_row_kernels\n"
    ".global syncyte_row_kernels\n"
    "syncyte_row_kernels:\n"
    ".incbin \"" SYNCYTE_KERNELS
    "\"\n"
    ".previous\n");
extern "C" const unsigned char syncyte_row_kernels[];

namespace syncyte::rows {

const memory::kernel_image& kernel_image() {
  static const memory::kernel_image image{syncyte_row_kernels, SYNCYTE_TOOLKIT};
  return image;
}

}  // namespace syncyte::rows
