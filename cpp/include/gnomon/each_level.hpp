// Includes GNOMON_FILE once for each level; see levels.hpp. Its headers were included before: under the pragma the
// templates of the standard library would be compiled for processors that have the level.

#if defined(GNOMON_USE_LEVELS)

#define GNOMON_LEVEL base
#define GNOMON_VECTOR_BYTES 16
#undef GNOMON_TOGGLE
#include GNOMON_FILE
#undef GNOMON_LEVEL
#undef GNOMON_VECTOR_BYTES

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define GNOMON_LEVEL v3
#define GNOMON_VECTOR_BYTES 32
#define GNOMON_TOGGLE
#include GNOMON_FILE
#undef GNOMON_LEVEL
#undef GNOMON_VECTOR_BYTES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#define GNOMON_LEVEL v4
#define GNOMON_VECTOR_BYTES 64
#undef GNOMON_TOGGLE
#include GNOMON_FILE
#undef GNOMON_LEVEL
#undef GNOMON_VECTOR_BYTES
#pragma GCC pop_options

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
