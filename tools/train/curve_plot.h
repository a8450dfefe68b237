// Loss and accuracy by epoch, as a picture.
#pragma once

#include "tools/train/run_report.h"

#include <span>
#include <string>

namespace tensorplay::train {

// An SVG document of two panels side by side: loss by epoch, from 0, and accuracy by epoch, up to
// 1; in each one curve for the training rows and one for the test rows. Stands alone: no scripts,
// no fonts or styles from elsewhere. `caption` is put on top; any text. `results` isn't empty and
// holds finite numbers.
std::string curve_plot(std::span<const EpochResult> results, const std::string& caption);

}  // namespace tensorplay::train
