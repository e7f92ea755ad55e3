/* Errors for Fortran: messages built from the fields of the thread's last error, and the end of the job. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

#ifdef SYNCYTE_GFORTRAN
void _gfortran_backtrace(void);
static void print_backtrace(void) { _gfortran_backtrace(); }
#elif defined(SYNCYTE_EXECINFO)
#include <execinfo.h>
static void print_backtrace(void) {
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
}
#else
static void print_backtrace(void) {}
#endif

enum { capacity = 4096 };

/* A text that is written; what does not fit is dropped. */
typedef struct {
  char text[capacity];
  size_t length;
} output_t;

static void append(output_t* to, const char* from, size_t count) {
  const size_t room = capacity - 1 - to->length;
  const size_t taken = count < room ? count : room;
  memcpy(to->text + to->length, from, taken);
  to->length += taken;
  to->text[to->length] = '\0';
}

static void append_text(output_t* to, const char* text) { append(to, text, strlen(text)); }

static void append_number(output_t* to, int64_t number) {
  char digits[32];
  snprintf(digits, sizeof digits, "%lld", (long long)number);
  append_text(to, digits);
}

/* Appends the items of a list, "2, 3]", last one first. */
static void append_reversed(output_t* to, const char* items, const char* end) {
  const char* comma = strchr(items, ',');
  const bool is_last = comma == NULL || comma > end;
  if (!is_last) append_reversed(to, comma + 2, end);
  append(to, items, (size_t)((is_last ? end : comma) - items));
  if (to->length > 0 && items[-1] == ' ') append(to, ", ", 2);
}

/* Appends a field with its lists of extents in Fortran's order; of an axis, which counts from the end, the sign goes.
 */
static void append_field(output_t* to, const char* text, bool has_extents, bool is_axis) {
  for (const char* next = text; *next != '\0';) {
    const char* end = *next == '[' && has_extents ? strchr(next, ']') : NULL;
    const bool is_sign = is_axis && *next == '-' && (next == text || next[-1] == ' ');
    if (end == NULL && !is_sign) append(to, next, 1);
    if (end != NULL) append(to, "[", 1), append_reversed(to, next + 1, end);
    next = end != NULL ? end : next + 1;
  }
}

/* What Fortran calls an argument of the C interface. */
static const char* name_of(const char* argument) {
  static const char* const names[][2] = {{"axis", "dim"},
                                         {"gather_axis", "gather_dim"},
                                         {"scatter_axis", "scatter_dim"},
                                         {"axes", "dims"},
                                         {"dimension", "dim"},
                                         {"ndim", "number of dimensions"},
                                         {"fortran_handle", "handle"},
                                         {"buffer", "array"},
                                         {"local", "array"},
                                         {"from", "from_last (1 is true)"},
                                         {"start of the scan", "from_last (1 is true)"},
                                         {"shape (of a row)", "shape"}};
  if (strncmp(argument, "options->", 9) == 0) return argument + 9;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (strcmp(argument, names[i][0]) == 0) return names[i][1];
  return argument;
}

static bool names_axis(const syncyte_error_fields_t* told) {
  return told->ndim > 0 && told->axis < 0 && strstr(told->argument, "axis") != NULL;
}

/* "dimension 2 of shape is 3; expected 4" */
static void append_argument(output_t* to, const syncyte_error_fields_t* told) {
  const bool is_dimension = told->axis >= 0 && told->ndim > 0, is_axis = names_axis(told);
  if (is_dimension) {
    append_text(to, "dimension ");
    append_number(to, told->ndim - told->axis);
    append_text(to, " of ");
  }
  append_text(to, name_of(told->argument));
  if (told->axis >= 0 && !is_dimension) {
    append_text(to, "(");
    append_number(to, told->axis + 1);
    append_text(to, ")");
  }
  append_text(to, " is ");
  append_field(to, strcmp(told->value, "null") == 0 ? "absent or not allocated" : told->value, told->ndim > 0, is_axis);
  if (told->expected[0] != '\0') append_text(to, "; expected ");
  append_field(to, told->expected, told->ndim > 0, is_axis);
}

/* "rank 2: comm_gather (world): " */
static void append_place(output_t* to, const syncyte_error_fields_t* told) {
  const char* suffix = strstr(told->operation, "_along");
  if (told->rank >= 0) {
    append_text(to, "rank ");
    append_number(to, told->rank);
    append_text(to, ": ");
  }
  append(to, told->operation, suffix != NULL ? (size_t)(suffix - told->operation) : strlen(told->operation));
  if (told->object[0] != '\0') {
    append_text(to, " (");
    append_text(to, told->object);
    append_text(to, ")");
  }
  if (told->operation[0] != '\0') append_text(to, ": ");
}

/* The thread's last error as a Fortran programmer should read it; valid until this thread's next call. */
const char* fortran_last_error(void) {
  static _Thread_local output_t to;
  syncyte_error_fields_t told = {.struct_size = sizeof told};
  to.length = 0;
  if (syncyte_last_error_fields(&told) != SYNCYTE_SUCCESS) return syncyte_last_error();
  append_place(&to, &told);
  if (told.argument[0] != '\0')
    append_argument(&to, &told);
  else
    append_text(&to, told.reason);
  return to.text;
}

/* Ends the job, on all ranks, with the thread's last error. */
_Noreturn void fortran_end_job(syncyte_status_t status) {
  int started = 0, ended = 0;
  fprintf(stderr, "Syncyte error %s: %s\n", syncyte_status_name(status), fortran_last_error());
  print_backtrace();
  fflush(stderr);
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started && !ended) MPI_Abort(MPI_COMM_WORLD, status);
  exit(status);
}
