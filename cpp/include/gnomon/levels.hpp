// Kernels compiled once for each instruction-set level, each with vectors of that level's width. A file of kernels has
// two parts:
//
//   #ifndef GNOMON_LEVEL                       // once: types, and what calls the kernels
//   #define GNOMON_FILE "src/name.cpp"         // before all headers
//   #include ...                               // every header, those of the standard library too
//   namespace gnomon { namespace { struct Job { ... }; } }
//   #include "gnomon/each_level.hpp"           // compiles the second part once for each level
//   namespace gnomon { namespace { GNOMON_CHOOSE(sum_rows); } ... sum_rows(job, begin, end) ... }
//   #else                                      // for each level: kernels and what they inline
//   #include ...                               // the headers with vectors again
//   namespace gnomon::GNOMON_LEVEL { namespace { GNOMON_KERNEL void sum_rows(const Job&, ...) { ... } } }
//   #endif
//
// A header with vectors has a part for each level, in the namespace GNOMON_SPACE, which it repeats whenever
// defined(its own macro) == defined(GNOMON_TOGGLE). Files without GNOMON_FILE have these parts once, in gnomon, with
// vectors of 64 bytes. No result may depend on the level: lanes are summed as simd::sum does, and a tile may have
// another size for each level only if the order of every sum stays.
#pragma once

#ifdef GNOMON_FILE
#define GNOMON_SPACE gnomon::GNOMON_LEVEL
#define GNOMON_TOGGLE  // no level yet: headers with vectors leave these out
#else
#define GNOMON_SPACE gnomon
#endif

// Of a function: compiled by itself, for the level it stands in. What it calls is inlined or reached through a constant
// of GNOMON_CHOOSE.
#define GNOMON_KERNEL [[gnu::noinline]]

// GCC's pragma is what compiles a part for a level; other compilers have the level of their options alone.
#if defined(GNOMON_USE_CLONES) && defined(__GNUC__) && !defined(__clang__)
#define GNOMON_USE_LEVELS

namespace gnomon {

/// The widest level that this processor runs: 0, 1 for x86-64-v3, 2 for x86-64-v4.
inline int best_level() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("x86-64-v4") ? 2 : __builtin_cpu_supports("x86-64-v3") ? 1 : 0;
}

template <class Function>
Function* choose_level(Function* base, Function* wide, Function* widest) {
    Function* const functions[] = {base, wide, widest};
    return functions[best_level()];
}

}  // namespace gnomon

// Defines a constant that stands for a kernel of this name, in the namespace around the levels'; for a template of a
// type (kind class) or a number (kind int) one for each.
#define GNOMON_CHOOSE(name) const auto name = choose_level(base::name, v3::name, v4::name)
#define GNOMON_CHOOSE_FOR(kind, name) \
    template <kind P>                 \
    const auto name = choose_level(base::name<P>, v3::name<P>, v4::name<P>)

#else
#define GNOMON_CHOOSE(name) const auto name = base::name
#define GNOMON_CHOOSE_FOR(kind, name) \
    template <kind P>                 \
    const auto name = base::name<P>
#endif
