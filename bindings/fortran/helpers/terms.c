#include "terms.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { capacity = 4096, most_items = 16 };

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

/* Length of what is quoted at `text`, or 0: an apostrophe inside a word opens nothing. */
static size_t quoted(const char* text, char before) {
  if (*text != '\'' || (before != '\0' && before != ' ' && before != '(')) return 0;
  const char* end = strchr(text + 1, '\'');
  return end != NULL ? (size_t)(end - text) + 1 : 0;
}

/* Length of one extent of a list: a number, or the word "rows"; 0 for anything else. */
static size_t extent(const char* text) {
  if (strncmp(text, "rows", 4) == 0) return 4;
  const size_t sign = *text == '-' ? 1 : 0;
  const size_t digits = strspn(text + sign, "0123456789");
  return digits > 0 ? sign + digits : 0;
}

/* Appends a list such as "[4, 6]" or "(rows, 3)" backwards and returns its length; 0 where there is none. */
static size_t reverse_list(const char* text, output_t* to) {
  const char* items[most_items];
  size_t lengths[most_items];
  int count = 0;
  const char* next = text + 1;
  if (*text != '[' && *text != '(') return 0;
  for (;; next += 2) {
    const size_t length = extent(next);
    if (length == 0 || count == most_items) return 0;
    items[count] = next;
    lengths[count++] = length;
    next += length;
    if (strncmp(next, ", ", 2) != 0) break;
  }
  if (*next != (*text == '[' ? ']' : ')')) return 0;
  append(to, text, 1);
  while (count-- > 0) {
    append(to, items[count], lengths[count]);
    if (count > 0) append(to, ", ", 2);
  }
  append(to, next, 1);
  return (size_t)(next - text) + 1;
}

/* Words of the C interface, and what a Fortran programmer calls the same. */
static size_t replace_word(const char* text, char before, output_t* to) {
  static const char* const words[][2] = {
      {"options->", ""},
      {"options.", ""},
      {"fortran_handle", "handle"},
      {"comm_gather_along", "comm_gather"},
      {"comm_scatter_along", "comm_scatter"},
      {"comm_reduce_scatter_along", "comm_reduce_scatter"},
      {"comm_alltoall_along", "comm_alltoall"},
      {"comm_allgather_along on rank", "comm_allgather with dim or lengths on rank"},
      {"comm_allgather_along", "comm_allgather"},
      {"output is null on root; expected a syncyte_buffer_t", "output is absent or not allocated on root"},
      {"input is null on root; expected a syncyte_buffer_t", "input is absent or not allocated on root"},
      {"counts is null;", "counts has a wrong type or size;"},
      {"gather_counts is null;", "gather_counts has a wrong type or size;"},
      {"scatter_counts is null;", "scatter_counts has a wrong type or size;"},
      {"along the axis", "along dim"},
      {"start of the scan is", "from_last (1 is true) is"}};
  if (before != '\0' && before != ' ') return 0;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
    const size_t length = strlen(words[i][0]);
    if (strncmp(text, words[i][0], length) != 0) continue;
    append(to, words[i][1], strlen(words[i][1]));
    return length;
  }
  return 0;
}

/* Elements of vectors with an entry per rank: "counts[0]" is "counts(1)". */
static size_t rename_element(const char* text, output_t* to) {
  static const char* const vectors[] = {"counts["};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    const size_t length = strlen(vectors[i]);
    char* rest = NULL;
    if (strncmp(text, vectors[i], length) != 0) continue;
    const long number = strtol(text + length, &rest, 10);
    if (rest == text + length || *rest != ']') continue;
    char words[64];
    const int written = snprintf(words, sizeof words, "%.*s(%ld)", (int)length - 1, vectors[i], number + 1);
    append(to, words, (size_t)written);
    return (size_t)(rest - text) + 1;
  }
  return 0;
}

const char* fortran_last_error(void) {
  static _Thread_local output_t result;
  const char* message = syncyte_last_error();
  result.length = 0;
  result.text[0] = '\0';
  for (const char* next = message; *next != '\0';) {
    const char before = next == message ? '\0' : next[-1];
    size_t length = quoted(next, before);
    if (length > 0) {
      append(&result, next, length);
    } else {
      length = replace_word(next, before, &result);
      if (length == 0) length = rename_element(next, &result);
      if (length == 0) length = reverse_list(next, &result);
      if (length == 0) append(&result, next, length = 1);
    }
    next += length;
  }
  return result.text;
}

/* What follows the rank that syncyte_error_set() will put in front again. */
static const char* without_rank(const char* message) {
  if (strncmp(message, "rank ", 5) != 0) return message;
  const size_t digits = strspn(message + 5, "0123456789");
  return digits > 0 && strncmp(message + 5 + digits, ": ", 2) == 0 ? message + 5 + digits + 2 : message;
}

/* Reads a dimension of C's behind a word and appends it in Fortran's way; returns what it has read, or 0. */
static size_t rename_dimension(const char* text, const char* word, char end, const char* as, int32_t ndim,
                               output_t* to) {
  const size_t length = strlen(word);
  char* rest = NULL;
  if (strncmp(text, word, length) != 0) return 0;
  const long number = strtol(text + length, &rest, 10);
  if (rest == text + length || *rest != end || number < 0 || number >= ndim) return 0;
  char words[64];
  const int written = snprintf(words, sizeof words, as, (int)(ndim - number));
  append(to, words, (size_t)written);
  return (size_t)(rest - text) + (end == ']' ? 1 : 0);
}

syncyte_status_t fortran_dimensions(syncyte_status_t status, int32_t ndim) {
  if (status == SYNCYTE_SUCCESS) return status;
  output_t result = {.length = 0};
  const char* message = without_rank(syncyte_last_error());
  for (const char* next = message; *next != '\0';) {
    const char before = next == message ? '\0' : next[-1];
    size_t length = quoted(next, before);
    if (length > 0) append(&result, next, length);
    if (length == 0) length = rename_dimension(next, "shape[", ']', "dimension %d of shape", ndim, &result);
    if (length == 0) length = rename_dimension(next, "of dimension ", ' ', "of dimension %d", ndim, &result);
    if (length == 0) append(&result, next, length = 1);
    next += length;
  }
  return syncyte_error_set(status, result.text);
}

/* Axes and dimensions of messages about arrays that are cut along one. */
typedef struct {
  int32_t ndim;      /* of the array that was named last */
  bool lists_values; /* behind "axis is": values on ranks follow */
  output_t to;
} axes_t;

int32_t fortran_axis(int32_t dim) {
  if (dim >= 1) return -dim;
  return dim > SYNCYTE_MAX_NDIM - INT32_MAX ? SYNCYTE_MAX_NDIM - dim : INT32_MAX;
}

int64_t fortran_dim(int64_t axis, int32_t ndim) {
  if (axis < 0) return -axis;
  return axis < SYNCYTE_MAX_NDIM ? ndim - axis : SYNCYTE_MAX_NDIM - axis;
}

static void append_dim(axes_t* axes, const char* words, int64_t dim) {
  char text[64];
  append(&axes->to, text, (size_t)snprintf(text, sizeof text, "%s%lld", words, (long long)dim));
}

/* "axis is 8; expected -2 to 1", or the beginning of "axis is 0 on rank 0, but 1 on rank 1". */
static size_t rename_axis(const char* text, axes_t* axes) {
  int axis = 0, lowest = 0, length = 0;
  if (sscanf(text, "axis is %d; expected %d to %*d%n", &axis, &lowest, &length) == 2 && length > 0) {
    append_dim(axes, "dim is ", fortran_dim(axis, -lowest));
    append_dim(axes, "; expected 1 to ", -lowest);
    return (size_t)length;
  }
  if (strncmp(text, "axis is ", 8) != 0) return 0;
  axes->lists_values = true;
  append(&axes->to, "dim is ", 7);
  return 8;
}

/* An axis between some words and others. */
static size_t rename_behind(const char* text, const char* words, const char* end, const char* as, axes_t* axes) {
  const size_t length = strlen(words);
  char* rest = NULL;
  if (strncmp(text, words, length) != 0) return 0;
  const long number = strtol(text + length, &rest, 10);
  if (rest == text + length || strncmp(rest, end, strlen(end)) != 0) return 0;
  append_dim(axes, as, fortran_dim(number, axes->ndim));
  return (size_t)(rest - text);
}

/* A value of the axis on some ranks. */
static size_t rename_value(const char* text, char before, axes_t* axes) {
  const size_t digits = strspn(text, "0123456789");
  if (!axes->lists_values || before != ' ' || digits == 0 || strncmp(text + digits, " on rank", 8) != 0) return 0;
  append_dim(axes, "", fortran_dim(strtol(text, NULL, 10), axes->ndim));
  return digits;
}

/* Passes a list such as "[4, 6]" on, and counts its extents. */
static size_t count_list(const char* text, axes_t* axes) {
  const size_t length = *text == '[' ? strspn(text + 1, "-0123456789, ") + 2 : 0;
  if (length == 0 || text[length - 1] != ']') return 0;
  axes->ndim = length > 2 ? 1 : 0;
  for (size_t i = 0; i < length; ++i) axes->ndim += text[i] == ',' ? 1 : 0;
  append(&axes->to, text, length);
  return length;
}

syncyte_status_t fortran_axes(syncyte_status_t status, int32_t ndim) {
  if (status == SYNCYTE_SUCCESS) return status;
  axes_t axes = {.ndim = ndim};
  const char* message = without_rank(syncyte_last_error());
  for (const char* next = message; *next != '\0';) {
    const char before = next == message ? '\0' : next[-1];
    size_t length = quoted(next, before);
    if (length > 0) append(&axes.to, next, length);
    if (length == 0) length = count_list(next, &axes);
    if (length == 0) length = rename_axis(next, &axes);
    if (length == 0) length = rename_behind(next, "along axis ", "", "along dim ", &axes);
    if (length == 0) length = rename_behind(next, "extent ", " is ", "extent of dimension ", &axes);
    if (length == 0) length = rename_value(next, before, &axes);
    if (length == 0) append(&axes.to, next, length = 1);
    next += length;
  }
  return syncyte_error_set(status, axes.to.text);
}
