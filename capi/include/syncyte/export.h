/**
 * @file export.h
 * @brief Marks the functions that the shared libraries export.
 */
#ifndef SYNCYTE_EXPORT_H
#define SYNCYTE_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define SYNCYTE_EXPORT __attribute__((visibility("default")))
#else
#define SYNCYTE_EXPORT
#endif

#endif
