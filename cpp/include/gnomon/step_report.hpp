// What a step of a descent tells: how large the gradient and the step were.
#pragma once

namespace gnomon {

struct StepReport {
    double gradient_norm;  ///< Euclidean norm of the whole gradient; not finite if any entry is not
    double step_norm;      ///< Euclidean norm of the whole step
};

}  // namespace gnomon
