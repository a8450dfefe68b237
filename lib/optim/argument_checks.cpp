#include "lib/optim/argument_checks.h"

#include <fmt/core.h>
#include <tensorplay/error.h>

#include <cmath>

namespace tensorplay::optim {

namespace {

[[noreturn]] void refuse(const char* optimizer, const char* option, double value,
                         const char* wanted) {
  throw InvalidArgument(
      fmt::format("{}: {} is {}, and must be {}", optimizer, option, value, wanted));
}

}  // namespace

void expect_finite(const char* optimizer, const char* option, double value) {
  if (!std::isfinite(value)) refuse(optimizer, option, value, "finite");
}

void expect_not_negative(const char* optimizer, const char* option, double value) {
  if (!std::isfinite(value) || value < 0)
    refuse(optimizer, option, value, "finite and not negative");
}

void expect_decay_rate(const char* optimizer, const char* option, double value) {
  // Written so that NaN is refused too.
  if (!(value >= 0 && value < 1)) refuse(optimizer, option, value, "at least 0 and less than 1");
}

void expect_equal_lengths(const char* optimizer, std::span<const Tensor> tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].value.size() == tensors[i].gradient.size()) continue;
    throw InvalidArgument(fmt::format("{}: tensor {} has {} values and {} gradients", optimizer, i,
                                      tensors[i].value.size(), tensors[i].gradient.size()));
  }
}

}  // namespace tensorplay::optim
