#include "arrays.hpp"

namespace gnomon::bindings {

void register_linalg(nb::module_&) {}

}  // namespace gnomon::bindings
