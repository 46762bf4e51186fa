#include "gnomon/geodesics.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kPaths = 8;  // sources that travel together, one in each lane
constexpr double kFar = 1e300;     // stands for infinity: differences of it are numbers

using f64 = double __attribute__((vector_size(kPaths * 8)));
using i64 = long long __attribute__((vector_size(kPaths * 8)));

GNOMON_INLINE bool any(i64 mask) {
    using i64x4 = long long __attribute__((vector_size(32)));
    using i64x2 = long long __attribute__((vector_size(16)));
    const i64x4 a = __builtin_shufflevector(mask, mask, 0, 1, 2, 3) | __builtin_shufflevector(mask, mask, 4, 5, 6, 7);
    const i64x2 b = __builtin_shufflevector(a, a, 0, 1) | __builtin_shufflevector(a, a, 2, 3);
    return (b[0] | b[1]) != 0;
}

/// The smallest of the lanes where the mask is set.
GNOMON_INLINE double least(f64 v, i64 mask) {
    const i64 bits = (mask & reinterpret_cast<i64>(v)) | (~mask & reinterpret_cast<i64>(simd::splat_as<f64>(kFar)));
    double lanes[kPaths];
    std::memcpy(lanes, &bits, sizeof lanes);
    double low = lanes[0];
    for (std::size_t l = 1; l < kPaths; ++l) low = lanes[l] < low ? lanes[l] : low;
    return low;
}

/// A queued vertex: the bits of its key, a float >= 0, in the high half, so that entries sort by key.
using Entry = std::uint64_t;
constexpr std::uint32_t kNotQueued = 0xFFFFFFFF;

GNOMON_INLINE std::uint32_t key_of(double length) { return std::bit_cast<std::uint32_t>(static_cast<float>(length)); }

/// The work of one thread: lengths (n, kPaths) of one group of sources and the vertices whose edges wait.
struct Scratch {
    std::vector<double> lengths;
    std::vector<std::uint32_t> keys;  // (n): under which a vertex waits; older entries of it in the queue are void
    std::vector<Entry> queue;         // a heap, the least key on top

    void prepare(std::size_t n) {
        lengths.assign(n * kPaths, kFar);
        keys.assign(n, kNotQueued);
        queue.clear();
    }

    GNOMON_INLINE void push(std::size_t v, double length) {
        const std::uint32_t key = key_of(length);
        if (key >= keys[v]) return;
        keys[v] = key;
        queue.push_back(static_cast<Entry>(key) << 32 | v);
        std::size_t place = queue.size() - 1;
        Entry* const heap = queue.data();
        const Entry entry = heap[place];
        while (place > 0) {
            const std::size_t parent = (place - 1) / 4;
            if (heap[parent] <= entry) break;
            heap[place] = heap[parent];
            place = parent;
        }
        heap[place] = entry;
    }

    GNOMON_INLINE Entry pop() {
        Entry* const heap = queue.data();
        const Entry top = heap[0], last = queue.back();
        queue.pop_back();
        const std::size_t size = queue.size();
        if (size == 0) return top;
        std::size_t place = 0;
        for (std::size_t child = 1; child < size; child = 4 * place + 1) {
            const std::size_t end = std::min(child + 4, size);
            std::size_t best = child;
            for (std::size_t c = child + 1; c < end; ++c) best = heap[c] < heap[best] ? c : best;
            if (last <= heap[best]) break;
            heap[place] = heap[best];
            place = best;
        }
        heap[place] = last;
        return top;
    }
};

/// Dijkstra's algorithm for a group: a vertex waits under the least of its lengths that have become shorter. These only
/// lengthen other paths, so a length popped as the least is final, and a vertex is popped once a lane at most, less
/// than twice in all if the sources lie near each other.
const auto relax = each_level([](const CsrView<float>& graph, Scratch& scratch) GNOMON_INLINE_LAMBDA {
    double* const lengths = scratch.lengths.data();
    const std::int32_t* const columns = graph.columns.data();
    const float* const values = graph.values.data();
    while (!scratch.queue.empty()) {
        const Entry entry = scratch.pop();
        const std::size_t v = static_cast<std::uint32_t>(entry);
        if (scratch.keys[v] != static_cast<std::uint32_t>(entry >> 32)) continue;
        scratch.keys[v] = kNotQueued;
        const f64 here = simd::load_as<f64>(lengths + v * kPaths);
        const auto end = graph.offsets[v + 1];
        for (auto e = graph.offsets[v]; e < end; ++e) {
            const std::size_t u = static_cast<std::size_t>(columns[e]);
            __builtin_prefetch(lengths + static_cast<std::size_t>(columns[std::min(e + 4, end - 1)]) * kPaths);
            const f64 there = simd::load_as<f64>(lengths + u * kPaths);
            const f64 through = here + simd::splat_as<f64>(static_cast<double>(values[e]));
            const i64 shorter = reinterpret_cast<i64>(through - there) >> 63;  // the sign: no infinities, no NaN
            if (!any(shorter)) continue;
            simd::store(lengths + u * kPaths, reinterpret_cast<f64>((shorter & reinterpret_cast<i64>(through)) |
                                                                    (~shorter & reinterpret_cast<i64>(there))));
            scratch.push(u, least(through, shorter));
        }
    }
});

/// Orders the sources so that those of a group lie near each other: their waves then pass a vertex at nearly one time.
std::vector<std::size_t> group_sources(const CsrView<float>& graph, const PathStarts& starts) {
    const std::size_t n = graph.rows(), n_sources = starts.vertices.rows();
    std::vector<std::vector<std::size_t>> at(n);
    for (std::size_t s = 0; s < n_sources; ++s) at[static_cast<std::size_t>(starts.vertices(s, 0))].push_back(s);
    std::vector<std::size_t> order;
    std::vector<std::size_t> seen(n, std::numeric_limits<std::size_t>::max());
    std::vector<std::size_t> wave;
    order.reserve(n_sources);
    for (std::size_t first = 0; first < n_sources; ++first) {
        const auto origin = static_cast<std::size_t>(starts.vertices(first, 0));
        if (at[origin].empty()) continue;
        const std::size_t enough = order.size() + kPaths - order.size() % kPaths;
        const std::size_t most = 64 * kPaths;  // vertices looked at for one group
        wave.assign(1, origin);
        seen[origin] = first;
        for (std::size_t next = 0; next < wave.size() && next < most && order.size() < enough; ++next) {
            const std::size_t v = wave[next];
            while (!at[v].empty() && order.size() < enough) {
                order.push_back(at[v].back());
                at[v].pop_back();
            }
            for (auto e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
                const auto u = static_cast<std::size_t>(graph.columns[static_cast<std::size_t>(e)]);
                if (seen[u] == first) continue;
                seen[u] = first;
                wave.push_back(u);
            }
        }
        if (!at[origin].empty()) --first;  // more sources here than fitted in
    }
    return order;
}

/// Sets the starts of one source in its lane.
void start_path(const PathStarts& starts, std::size_t source, std::size_t lane, Scratch& scratch) {
    for (std::size_t j = 0; j < starts.vertices.cols(); ++j) {
        const double length = starts.lengths(source, j);
        if (!(length < kFar)) continue;
        const auto v = static_cast<std::size_t>(starts.vertices(source, j));
        double& known = scratch.lengths[v * kPaths + lane];
        known = std::min(known, length);
        scratch.push(v, known);
    }
}

template <class T>
T finite_or_inf(double length) {
    return length < kFar ? static_cast<T>(length) : std::numeric_limits<T>::infinity();
}

}  // namespace

template <class T>
void geodesic_distances(const CsrView<float>& graph, const PathStarts& starts, Span2<T> lengths,
                        const Context& context) {
    const std::size_t n = graph.rows(), n_sources = starts.vertices.rows();
    assert(lengths.rows() == n_sources && lengths.cols() == n);
    const std::vector<std::size_t> order = group_sources(graph, starts);
    std::vector<Scratch> scratches(static_cast<std::size_t>(context.n_threads));
    parallel_blocks(n_sources, kPaths, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        Scratch& scratch = scratches[worker];
        scratch.prepare(n);
        for (std::size_t s = begin; s < end; ++s) start_path(starts, order[s], s - begin, scratch);
        relax(graph, scratch);
        for (std::size_t s = begin; s < end; ++s) {
            T* row = lengths.row(order[s]);
            for (std::size_t v = 0; v < n; ++v) row[v] = finite_or_inf<T>(scratch.lengths[v * kPaths + s - begin]);
        }
    });
}

template void geodesic_distances(const CsrView<float>&, const PathStarts&, Span2<float>, const Context&);
template void geodesic_distances(const CsrView<float>&, const PathStarts&, Span2<double>, const Context&);

}  // namespace gnomon
