// Kernels compiled once for each instruction-set level; which one runs is chosen when the library is loaded.
//
// A function without sixteen lanes is written once, as a lambda:
//
//   const auto add = each_level([](const double* x, std::size_t n, double* out) GNOMON_INLINE_LAMBDA { ... });
//
// Everything it calls must be always_inline (GNOMON_INLINE), or it is compiled for the baseline only.
//
// A file of kernels with sixteen lanes compiles them with vectors of each level's width. It has two parts:
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

#define GNOMON_INLINE [[gnu::always_inline]] inline
// Inlines a lambda into the function that calls it, so that it is compiled for that function's level.
#define GNOMON_INLINE_LAMBDA __attribute__((always_inline))

// x86-64-v2 and below, x86-64-v3 and x86-64-v4. GNOMON_ONE_LEVEL leaves that of the compiler's options alone, as do
// other processors, and GCC for Windows, where it does not align what AVX puts on the stack. Without multiply-adds,
// which v3 would have: nothing is fused.
#if defined(__x86_64__) && !defined(GNOMON_ONE_LEVEL) && (defined(__clang__) || !defined(_WIN32))
#define GNOMON_USE_LEVELS
#define GNOMON_AT_V3 __attribute__((target("avx2,bmi,bmi2,f16c,lzcnt,movbe,popcnt")))
#define GNOMON_AT_V4 \
    __attribute__((target("avx2,bmi,bmi2,f16c,lzcnt,movbe,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")))

namespace gnomon {

/// The widest level that this processor and its system run: 0, 1 for x86-64-v3, 2 for x86-64-v4.
int best_level();

/// Whether a processor of the widest level has the instructions that multiply bytes and add the products (AVX512-VNNI).
bool has_byte_products();

template <class Function>
Function* choose_level(Function* base, Function* wide, Function* widest) {
    Function* const functions[] = {base, wide, widest};
    return functions[best_level()];
}

/// What a lambda without captures does, as a function of each level. The lambda's type is that of one file, and so are
/// these functions: linkers do not merge them.
template <class Lambda, class Signature = decltype(&Lambda::operator())>
struct AtLevels;
template <class Lambda, class Result, class... Arguments>
struct AtLevels<Lambda, Result (Lambda::*)(Arguments...) const> {
    [[gnu::noinline]] static Result base(Arguments... x) { return Lambda{}(static_cast<Arguments&&>(x)...); }
    [[gnu::noinline]] GNOMON_AT_V3 static Result v3(Arguments... x) { return Lambda{}(static_cast<Arguments&&>(x)...); }
    [[gnu::noinline]] GNOMON_AT_V4 static Result v4(Arguments... x) { return Lambda{}(static_cast<Arguments&&>(x)...); }
};

template <class Lambda>
auto each_level(Lambda) {
    using Levels = AtLevels<Lambda>;
    return choose_level(Levels::base, Levels::v3, Levels::v4);
}

}  // namespace gnomon

// Defines a constant that stands for a kernel of this name, in the namespace around the levels'; for a template of a
// type (kind class) or a number (kind int) one for each.
#define GNOMON_CHOOSE(name) const auto name = choose_level(base::name, v3::name, v4::name)
#define GNOMON_CHOOSE_FOR(kind, name) \
    template <kind P>                 \
    const auto name = choose_level(base::name<P>, v3::name<P>, v4::name<P>)

#else

namespace gnomon {

template <class Lambda>
constexpr auto each_level(Lambda lambda) {
    return +lambda;
}

}  // namespace gnomon

#define GNOMON_CHOOSE(name) const auto name = base::name
#define GNOMON_CHOOSE_FOR(kind, name) \
    template <kind P>                 \
    const auto name = base::name<P>
#endif
