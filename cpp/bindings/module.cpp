// gnomon._core: one register_<concept> for each concept, each in its own file.
#include <nanobind/nanobind.h>

namespace gnomon::bindings {
void register_affinities(nanobind::module_& m);
void register_atlas(nanobind::module_& m);
void register_contrast(nanobind::module_& m);
void register_density(nanobind::module_& m);
void register_draws(nanobind::module_& m);
void register_edge_spreads(nanobind::module_& m);
void register_frames(nanobind::module_& m);
void register_geodesics(nanobind::module_& m);
void register_elimination(nanobind::module_& m);
void register_geometry(nanobind::module_& m);
void register_local_spectra(nanobind::module_& m);
void register_map_scores(nanobind::module_& m);
void register_anchor_ranks(nanobind::module_& m);
void register_moments(nanobind::module_& m);
void register_neighbors(nanobind::module_& m);
void register_objectives(nanobind::module_& m);
void register_optimizers(nanobind::module_& m);
void register_pair_metrics(nanobind::module_& m);
void register_parallel(nanobind::module_& m);
void register_placement(nanobind::module_& m);
void register_reconstruction(nanobind::module_& m);
void register_row_placement(nanobind::module_& m);
void register_sampled_parts(nanobind::module_& m);
void register_saddles(nanobind::module_& m);
void register_spectral(nanobind::module_& m);
void register_surfaces(nanobind::module_& m);
void register_tables(nanobind::module_& m);
void register_tree(nanobind::module_& m);
void register_triplets(nanobind::module_& m);
}  // namespace gnomon::bindings

NB_MODULE(_core, m) {
    nanobind::set_leak_warnings(false);  // what a program still holds at its end is no leak
    m.doc() = "Compiled kernels of gnomon; private, used by the room that owns each concept.";
    gnomon::bindings::register_tables(m);
    gnomon::bindings::register_affinities(m);
    gnomon::bindings::register_atlas(m);
    gnomon::bindings::register_contrast(m);
    gnomon::bindings::register_density(m);
    gnomon::bindings::register_draws(m);
    gnomon::bindings::register_edge_spreads(m);
    gnomon::bindings::register_frames(m);
    gnomon::bindings::register_geodesics(m);
    gnomon::bindings::register_elimination(m);
    gnomon::bindings::register_geometry(m);
    gnomon::bindings::register_local_spectra(m);
    gnomon::bindings::register_map_scores(m);
    gnomon::bindings::register_anchor_ranks(m);
    gnomon::bindings::register_moments(m);
    gnomon::bindings::register_neighbors(m);
    gnomon::bindings::register_objectives(m);
    gnomon::bindings::register_optimizers(m);
    gnomon::bindings::register_pair_metrics(m);
    gnomon::bindings::register_parallel(m);
    gnomon::bindings::register_placement(m);
    gnomon::bindings::register_reconstruction(m);
    gnomon::bindings::register_row_placement(m);
    gnomon::bindings::register_sampled_parts(m);
    gnomon::bindings::register_saddles(m);
    gnomon::bindings::register_spectral(m);
    gnomon::bindings::register_surfaces(m);
    gnomon::bindings::register_tree(m);
    gnomon::bindings::register_triplets(m);
}
