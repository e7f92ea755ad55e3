/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNCYTE_TESTS_CAPI_IN_CHILD_H
#define SYNCYTE_TESTS_CAPI_IN_CHILD_H

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

#define EXPECT_REFUSED(call) EXPECT_ERROR(call, SYNCYTE_ERR_UNSUPPORTED, "forked child of rank")

/* Runs a function in a child, whose exit status is the number of its failures, at most 99. It leaves by exit(), as
 * programs do, which runs the exit handlers of MPI and Syncyte. A child that hangs is killed after the seconds. */
static void in_child(unsigned seconds, void (*function)(void)) {
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(seconds);
    failures = 0;
    function();
    exit(failures < 100 ? failures : 99);
  }
  EXPECT(child > 0);
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status));
  EXPECT(WEXITSTATUS(status) == 0);
}

#endif
