// gnomon._core: one register_<concept> for each concept, each in its own file.
#include <nanobind/nanobind.h>

namespace gnomon::bindings {
void register_contrast(nanobind::module_& m);
void register_geometry(nanobind::module_& m);
void register_map_scores(nanobind::module_& m);
void register_parallel(nanobind::module_& m);
}  // namespace gnomon::bindings

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of gnomon; private, used by the room that owns each concept.";
    gnomon::bindings::register_contrast(m);
    gnomon::bindings::register_geometry(m);
    gnomon::bindings::register_map_scores(m);
    gnomon::bindings::register_parallel(m);
}
