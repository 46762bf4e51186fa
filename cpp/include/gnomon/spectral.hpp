// Leading eigenvectors of D^-1/2 A D^-1/2 for a connected graph: the bottom ones of its normalised Laplacian.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

struct SpectralOptions {
    std::size_t n_wanted;  ///< the first columns that must converge; at most the width of the block less 2
    float tolerance;       ///< on |M x - lambda x| / (1 - lambda), lambda being the last one wanted
    /// Enough instead: the sine of the angle by which the last filter turned the span of the first columns; 0: never.
    double turn;
    int max_products;  ///< of the whole graph with a block; those of coarser graphs are bounded likewise
    double seconds;    ///< ends the iteration early, infinity: never; an end by time depends on the machine
    std::uint64_t seed;
};

struct SpectralOutcome {
    bool converged = false;
    bool out_of_time = false;
    double turn = 1.0;   ///< sine of the angle by which the last filter turned the span wanted; 1 without one
    int n_products = 0;  ///< with the whole graph
    int n_levels = 0;    ///< graphs from the finest to the coarsest
};

/// Chebyshev-filtered subspace iteration, started from the vectors of ever coarser graphs.
/// affinities (n, n): symmetric, non-negative, connected, n >= 4 * width. vectors (n, width): written, orthonormal
/// columns orthogonal to sqrt(degree), by falling eigenvalue; width is 8, 16, 32 or 64. eigenvalues, residuals (width):
/// written; eigenvalues of D^-1/2 A D^-1/2, in [-1, 1].
SpectralOutcome spectral_vectors(const CsrView<float>& affinities, const SpectralOptions& options, Span2<float> vectors,
                                 std::span<double> eigenvalues, std::span<double> residuals, const Context& context);

}  // namespace gnomon
