/* SPDX-License-Identifier: BSD-3-Clause */
/* SYNCYTE_WATCHDOG=0: the start makes no watchdog thread. */
#include <dirent.h>
#include <mpi.h>

#include "expect.h"

/* Number of threads of this process. */
static int count_threads(void) {
  int count = 0;
  DIR* const folder = opendir("/proc/self/task");
  if (folder == NULL) return -1;
  for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder))
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

int main(int argc, char** argv) {
  int32_t rank = 0, size = 0;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int before = count_threads();
  start(&rank, &size);
  EXPECT(before > 0);
  EXPECT(count_threads() == before);
  EXPECT_OK(syncyte_finalize());
  MPI_Finalize();
  return failures != 0;
}
