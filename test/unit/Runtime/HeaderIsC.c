/*===- HeaderIsC.c - The interface compiles as C --------------------*- C
-*-===*\
|*                                                                            *|
|* Part of the HLA project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "hla-c/Runtime.h"

const char *getNameFromC(void);

const char *getNameFromC(void) { return hlaStatusGetName(HLA_STATUS_STRIDE); }
