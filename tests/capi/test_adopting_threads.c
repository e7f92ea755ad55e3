/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of a rank adopt one communicator each at the same time, many times. Which thread is first may differ
 * between ranks. finalize(), which frees all communicators and their objects collectively, must work in spite of it. */
#include <mpi.h>
#include <pthread.h>

#include "expect.h"
#include "syncyte_mpi.h"

enum { pairs = 40 };

static void* adopt(void* original) {
  syncyte_comm_t comm = NULL;
  syncyte_window_t window = NULL;
  EXPECT_OK(syncyte_comm_from_mpi(*(MPI_Comm*)original, NULL, &comm));
  EXPECT_OK(syncyte_window_create(comm, 64, NULL, &window));
  return NULL; /* both communicators exist until finalize */
}

int main(void) {
  int32_t rank = 0, size = 0, level = 0;
  MPI_Comm originals[2 * pairs];
  syncyte_comm_t world = start(&rank, &size);
  EXPECT_OK(syncyte_thread_level(&level));
  if (level < 3) return 77;
  for (int i = 0; i < 2 * pairs; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &originals[i]);
  for (int i = 0; i < pairs; ++i) {
    pthread_t other;
    EXPECT(pthread_create(&other, NULL, adopt, &originals[2 * i]) == 0);
    adopt(&originals[2 * i + 1]);
    EXPECT(pthread_join(other, NULL) == 0);
  }
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
