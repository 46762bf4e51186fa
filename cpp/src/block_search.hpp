#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gnomon/neighbors_tile.hpp"
#include "gnomon/parallel.hpp"

namespace gnomon {

constexpr std::size_t kBaseBlock = 4096;           ///< rows of the base of one task
constexpr std::size_t kMaxPartialKeys = 1U << 22;  ///< keys held between tasks and merge (32 MB)

/// What one task searches: some queries in some rows of the base.
struct Task {
    std::size_t query0, query1, base0, base1;
};

/// The k nearest of n_base rows for n queries, in tasks of `chunk` queries and a block of the base: search(task,
/// nearest) offers the rows of a task, write(i, keys) takes what all tasks kept for query i.
template <class Search, class Write>
void search_in_blocks(std::size_t n, std::size_t n_base, std::size_t k, std::size_t chunk, const Context& context,
                      Search&& search, Write&& write) {
    const std::size_t n_bases = (n_base + kBaseBlock - 1) / kBaseBlock;
    const std::size_t slab = std::max<std::size_t>(1, kMaxPartialKeys / (k * n_bases) / chunk) * chunk;
    std::vector<std::uint64_t> keys(std::min(slab, round_up(n, chunk)) * n_bases * k);
    std::vector<std::size_t> counts(std::min(slab, round_up(n, chunk)) * n_bases);
    std::vector<NearestKeys> nearest(static_cast<std::size_t>(context.n_threads), NearestKeys(k));

    for (std::size_t slab0 = 0; slab0 < n; slab0 += slab) {
        const std::size_t slab1 = std::min(n, slab0 + slab), n_chunks = (slab1 - slab0 + chunk - 1) / chunk;
        parallel_for(n_chunks * n_bases, context, [&](std::size_t t, std::size_t worker) {
            const std::size_t query0 = slab0 + t / n_bases * chunk, block = t % n_bases, base0 = block * kBaseBlock;
            const Task task{query0, std::min(slab1, query0 + chunk), base0, std::min(n_base, base0 + kBaseBlock)};
            search(task, nearest[worker]);
            for (std::size_t i = task.query0; i < task.query1; ++i) {
                const std::size_t place = (i - slab0) * n_bases + block;
                counts[place] = nearest[worker].finish(i - task.query0, keys.data() + place * k);
            }
        });
        parallel_blocks(slab1 - slab0, 256, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            std::vector<std::uint64_t> merged;
            for (std::size_t i = begin; i < end; ++i) {
                merged.clear();
                for (std::size_t place = i * n_bases; place < (i + 1) * n_bases; ++place) {
                    const std::uint64_t* found = keys.data() + place * k;
                    merged.insert(merged.end(), found, found + counts[place]);
                }
                write(slab0 + i, merged);
            }
        });
    }
}

}  // namespace gnomon
