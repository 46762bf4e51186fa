// The layout kernels on fixed input: equal to direct sums, and equal in every bit for 1, 2, 3 and 5 threads. The hash
// it prints is the same for every instruction set (GNOMON_ARCH=x86-64, x86-64-v3, x86-64-v4): compare builds with it.
#include <cmath>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "gnomon/adam.hpp"
#include "gnomon/edge_sums.hpp"
#include "gnomon/info_nce.hpp"
#include "gnomon/momentum.hpp"
#include "gnomon/pair_sums.hpp"
#include "gnomon/particle_mesh.hpp"
#include "gnomon/random.hpp"
#include "gnomon/sampled_descent.hpp"

using namespace gnomon;

namespace {

struct Graph {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<float> values, degrees;

    explicit Graph(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            float degree = 0;
            for (std::size_t e = 0; e < 5 + i % 40; ++e) {
                columns.push_back(static_cast<std::int32_t>(draw(1, 1, i, e) % n));
                values.push_back(0.1F + 0.9F * unit_float(draw(1, 2, i, e)));
                degree += values.back();
            }
            degrees.push_back(degree);
            offsets.push_back(static_cast<std::int64_t>(columns.size()));
        }
    }
    CsrView<float> view() const { return {offsets, columns, values}; }
};

std::vector<float> points(std::size_t n, std::size_t d, float scale) {
    std::vector<float> y(n * d);
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] =
            scale * (unit_float(draw(2, d, i, 0)) + unit_float(draw(2, d, i, 1)) + unit_float(draw(2, d, i, 2)) - 1.5F);
    }
    return y;
}

struct Hash {
    std::uint64_t value = 0;
    void add(const std::vector<float>& data) {
        for (const float x : data) {
            std::uint32_t bits;
            std::memcpy(&bits, &x, sizeof bits);
            value = mix64(value ^ bits);
        }
    }
    void add(double x) {
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        value = mix64(value ^ bits);
    }
};

constexpr std::size_t kPoints = 1345;

std::vector<OutputKernel> kernels() {
    return {output_kernel("cauchy", 1, 1),
            output_kernel("umap", 1.577F, 0.895F),
            output_kernel("gaussian", 0.02F, 1),
            output_kernel("student_t", 2.5F, 1),
            output_kernel("noise_contrast", 0.25F, 1),
            output_kernel("linear", 1, 1),
            output_kernel("inverse_power", 0.75F, 1),
            output_kernel("logarithmic", 1, 1),
            output_kernel("distance", 1, 1)};
}

std::uint64_t everything(int n_threads) {
    const Context context{n_threads};
    const Graph graph(kPoints);
    const std::vector<float> target = points(kPoints, kPoints, 0.5F);
    Hash hash;
    for (const OutputKernel& kernel : kernels()) {
        for (const std::size_t d : {1, 2, 3, 6}) {
            const std::vector<float> y = points(kPoints, d, 30.0F);
            const Span2<const float> Y{y.data(), kPoints, d};
            std::vector<float> a(y.size()), b(y.size());
            const Span2<float> A{a.data(), kPoints, d}, B{b.data(), kPoints, d};
            for (const PairLaw law : {PairLaw::value, PairLaw::square, PairLaw::log, PairLaw::log_deficit}) {
                if (!is_defined(law, kernel)) continue;
                hash.add(pair_sums(law, kernel, Y, graph.degrees, graph.degrees, true, A, context));
                hash.add(a);
                edge_sums(law, kernel, graph.view(), Y, 1.5F, A, 0.5F, B, context);
                hash.add(b);
                hash.add(edge_energy(law, kernel, graph.view(), Y, context));
            }
            if (d <= 2 && kernel.kind == OutputKernel::Kind::cauchy) {
                ParticleMesh mesh(kernel, 0.5F);
                hash.add(mesh.evaluate(Y, {}, A, context));
                hash.add(a);
            }
            std::vector<float> moving = y, first(y.size(), 0.0F), second(y.size(), 0.0F), gains(y.size(), 1.0F);
            const Span2<float> M{moving.data(), kPoints, d}, F{first.data(), kPoints, d}, S{second.data(), kPoints, d};
            if (kernel.is_similarity()) {
                sampled_epochs(graph.view(), {graph.degrees, {}}, kernel, {}, {1.0F, 7}, 0, 5, {M, F, S}, {}, context);
                hash.add(moving);
                hash.add(second);
                sampled_forces(graph.view(), {graph.degrees, graph.degrees}, kernel, {}, 3, Y, A, B, context);
                hash.add(a);
                hash.add(b);
                const std::int64_t shifts[] = {1, 17, 900};
                hash.add(info_nce(graph.view(), kernel, shifts, {}, Y, A, B, context));
                hash.add(a);
                hash.add(b);
            }
            hash.add(target_sums(kernel, Y, {target.data(), kPoints, kPoints}, {}, d != 3, A, context));
            hash.add(a);
            momentum_step<float>(M, Y, {}, F, {gains.data(), kPoints, d}, {0.3, 0.5, 2.0, true, true}, context);
            hash.add(moving);
            adam_step<float>(M, Y, F, S, {0.3, 0.9, 0.99, 1e-7}, 3, context);
            hash.add(moving);
        }
    }
    return hash.value;
}

void meshes_agree_with_direct_sums() {
    for (const std::size_t d : {1, 2}) {
        const std::vector<float> y = points(kPoints, d, 25.0F);
        const Span2<const float> Y{y.data(), kPoints, d};
        std::vector<float> exact(y.size()), found(y.size());
        const double z = pair_sums(PairLaw::value, {}, Y, {}, {}, true, {exact.data(), kPoints, d}, {2});
        ParticleMesh mesh({}, 0.25F);
        CHECK_CLOSE(mesh.evaluate(Y, {}, {found.data(), kPoints, d}, {2}) / z, 1, 2e-4);
        double error = 0, norm = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            error += std::pow(static_cast<double>(found[i] + exact[i]), 2);  // the mesh gives -k'
            norm += std::pow(static_cast<double>(exact[i]), 2);
        }
        CHECK(std::sqrt(error / norm) < 5e-3);
    }
}

}  // namespace

int main() {
    meshes_agree_with_direct_sums();
    const std::uint64_t once = everything(1);
    for (const int n_threads : {2, 3, 5}) CHECK(everything(n_threads) == once);
    std::printf("layout %016llx\n", static_cast<unsigned long long>(once));
    return failures != 0;
}
