/* SPDX-License-Identifier: BSD-3-Clause */
/* Stand-alone test of the package: the library and the headers have the same version. */
#include <stdio.h>
#include <syncyte.h>

int main(void) {
  int32_t major = -1, minor = -1, patch = -1;
  if (syncyte_version(&major, &minor, &patch, NULL) != SYNCYTE_SUCCESS) return 1;
  printf("syncyte %d.%d.%d\n", major, minor, patch);
  return major == SYNCYTE_VERSION_MAJOR && minor == SYNCYTE_VERSION_MINOR ? 0 : 1;
}
