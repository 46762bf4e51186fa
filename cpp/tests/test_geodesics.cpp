// Shortest paths of graphs whose lengths are known, for any number of threads and sources.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "gnomon/geodesics.hpp"

using namespace gnomon;

struct Graph {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
    std::vector<float> values;
    CsrView<float> view() const { return {offsets, columns, values}; }
};

// A ring of n vertices; edge i leads from i to i + 1 and has length i % 3, so that some have length zero.
static Graph ring(int n) {
    Graph graph;
    graph.offsets.push_back(0);
    for (int i = 0; i < n; ++i) {
        const int before = (i + n - 1) % n, after = (i + 1) % n;
        graph.columns.insert(graph.columns.end(), {before, after});
        graph.values.insert(graph.values.end(), {static_cast<float>(before % 3), static_cast<float>(i % 3)});
        graph.offsets.push_back(static_cast<std::int64_t>(graph.columns.size()));
    }
    return graph;
}

static std::vector<double> lengths_of(const Graph& graph, const std::vector<std::int32_t>& sources, int n_threads) {
    const std::size_t n = graph.offsets.size() - 1;
    const std::vector<double> starts(sources.size(), 0.0);
    std::vector<double> out(sources.size() * n, -1.0);
    geodesic_distances<double>(graph.view(), {{sources.data(), sources.size(), 1}, {starts.data(), starts.size(), 1}},
                               {out.data(), sources.size(), n}, {n_threads});
    return out;
}

int main() {
    const int n = 60;
    const Graph graph = ring(n);
    std::vector<std::int32_t> sources;
    for (int i = 0; i < n; ++i) sources.push_back((7 * i) % n);
    sources.insert(sources.end(), 21, 5);  // one vertex many times
    const std::vector<double> found = lengths_of(graph, sources, 1);
    for (std::size_t s = 0; s < sources.size(); ++s)
        for (int v = 0; v < n; ++v) {
            int forward = 0, around = 0;
            for (int i = 0; i < n; ++i) {
                around += i % 3;
                const int from = std::min(sources[s], v), to = std::max(sources[s], v);
                if (i >= from && i < to) forward += i % 3;
            }
            CHECK(found[s * n + static_cast<std::size_t>(v)] == std::min(forward, around - forward));
        }
    for (const int n_threads : {2, 3, 5}) CHECK(lengths_of(graph, sources, n_threads) == found);

    Graph apart;  // two vertices without an edge
    apart.offsets = {0, 0, 0};
    const std::vector<double> far = lengths_of(apart, {0, 1}, 1);
    CHECK(far[0] == 0.0 && far[3] == 0.0 && std::isinf(far[1]) && std::isinf(far[2]));
    return failures != 0;
}
