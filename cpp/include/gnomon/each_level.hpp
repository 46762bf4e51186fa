// Includes GNOMON_FILE once for each level; see levels.hpp. Its headers were included before: under the pragmas the
// templates of the standard library would be compiled for processors that have the level. The features are those of
// GNOMON_AT_V3 and GNOMON_AT_V4.

#if defined(GNOMON_USE_LEVELS)

#define GNOMON_LEVEL base
#define GNOMON_VECTOR_BYTES 16
#undef GNOMON_TOGGLE
#if defined(GNOMON_SMALL_BASE)  // by CMakeLists.txt: what is cold is compiled for size
#undef GNOMON_KERNEL
#define GNOMON_KERNEL [[gnu::noinline, gnu::cold]]
#endif
#include GNOMON_FILE
#undef GNOMON_KERNEL
#define GNOMON_KERNEL [[gnu::noinline]]
#undef GNOMON_LEVEL
#undef GNOMON_VECTOR_BYTES

#if defined(__clang__)
#pragma clang attribute push(GNOMON_AT_V3, apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,f16c,lzcnt,movbe,popcnt")
#endif
#define GNOMON_LEVEL v3
#define GNOMON_VECTOR_BYTES 32
#define GNOMON_TOGGLE
#include GNOMON_FILE
#undef GNOMON_LEVEL
#undef GNOMON_VECTOR_BYTES
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(GNOMON_AT_V4, apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")
#endif
#define GNOMON_LEVEL v4
#define GNOMON_VECTOR_BYTES 64
#undef GNOMON_TOGGLE
#include GNOMON_FILE
#undef GNOMON_LEVEL
#undef GNOMON_VECTOR_BYTES
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else  // one level, that of the compiler's options

#if defined(__AVX512F__)
#define GNOMON_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define GNOMON_VECTOR_BYTES 32
#else
#define GNOMON_VECTOR_BYTES 16
#endif
#define GNOMON_LEVEL base
#undef GNOMON_TOGGLE
#include GNOMON_FILE
#undef GNOMON_LEVEL
#undef GNOMON_VECTOR_BYTES

#endif
