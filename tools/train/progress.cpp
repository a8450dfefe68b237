#include "tools/train/progress.h"

#include <fmt/core.h>

namespace tensorplay::train {
namespace {

constexpr int kBarCells = 30;
constexpr std::chrono::milliseconds kRedraw{50};
constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress(std::ostream& stream, bool is_terminal, int epoch_count)
    : stream_(stream), is_terminal_(is_terminal), epoch_count_(epoch_count) {}

Progress::~Progress() {
  if (is_drawn_) stream_ << kEraseLine << std::flush;
}

void Progress::batch_done(int epoch, std::size_t done, std::size_t count) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_terminal_ || now - drawn_ < kRedraw) return;
  drawn_ = now;
  draw(epoch - 1, static_cast<double>(done) / static_cast<double>(count));
}

void Progress::epoch_done(const EpochResult& result) {
  result_ =
      fmt::format("loss {:.4f}, test accuracy {:.4f}", result.training_loss, result.test_accuracy);
  if (is_terminal_) {
    draw(result.epoch, 0);
  } else {
    stream_ << fmt::format("epoch {}/{}: {}\n", result.epoch, epoch_count_, result_) << std::flush;
  }
}

void Progress::draw(int epochs_done, double share_of_epoch) {
  is_drawn_ = true;
  const double share = (epochs_done + share_of_epoch) / epoch_count_;
  const int cells = static_cast<int>(share * kBarCells);
  stream_ << fmt::format("{}[{:#<{}}{:.<{}}] {:3.0f} %  epoch {}/{}  {}", kEraseLine, "", cells, "",
                         kBarCells - cells, share * 100, epochs_done, epoch_count_, result_)
          << std::flush;
}

}  // namespace tensorplay::train
