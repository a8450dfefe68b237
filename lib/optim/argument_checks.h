// What every optimizer asks of its arguments. Each throws InvalidArgument that names the optimizer,
// the argument, the value and what would be right.
#pragma once

#include <tensorplay/optim/optimizer.h>

#include <span>

namespace tensorplay::optim {

void expect_finite(const char* optimizer, const char* option, double value);
void expect_not_negative(const char* optimizer, const char* option, double value);
// 0 <= value < 1.
void expect_decay_rate(const char* optimizer, const char* option, double value);
// As many gradients as values, in each tensor.
void expect_equal_lengths(const char* optimizer, std::span<const Tensor> tensors);

}  // namespace tensorplay::optim
