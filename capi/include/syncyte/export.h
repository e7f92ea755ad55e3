/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file export.h
 * @brief Marks the functions that the shared libraries export, and those that do not return.
 */
#ifndef SYNCYTE_EXPORT_H
#define SYNCYTE_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define SYNCYTE_EXPORT __attribute__((visibility("default")))
#define SYNCYTE_NORETURN __attribute__((noreturn))
#else
#define SYNCYTE_EXPORT
#define SYNCYTE_NORETURN
#endif

#endif
