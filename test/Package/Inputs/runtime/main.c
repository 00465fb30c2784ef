//===- main.c - a project that uses the installed runtime --------*- C -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla-c/Runtime.h"
#include <stdio.h>

int main(int argc, char **argv) {
  HlaBundle *bundle = NULL;
  if (argc != 2)
    return 1;
  HlaStatus status = hlaBundleLoad(argv[1], &bundle);
  printf("status %d: %s\n", (int)status, hlaGetLastErrorMessage());
  hlaBundleDestroy(bundle);
  return 0;
}
