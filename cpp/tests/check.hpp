// The whole test framework: a check that says where it failed, and main's return value.
#pragma once

#include <cmath>
#include <cstdio>

inline int failures = 0;

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            ++failures;                                                         \
        }                                                                       \
    } while (false)

#define CHECK_CLOSE(a, b, tolerance)                                                               \
    do {                                                                                           \
        const double left = (a), right = (b);                                                      \
        if (!(std::fabs(left - right) <= (tolerance))) {                                           \
            std::printf("%s:%d: %s = %.9g, %s = %.9g\n", __FILE__, __LINE__, #a, left, #b, right); \
            ++failures;                                                                            \
        }                                                                                          \
    } while (false)
