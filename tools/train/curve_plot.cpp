#include "tools/train/curve_plot.h"

#include "tools/train/axis.h"

#include <fmt/core.h>
#include <algorithm>
#include <string_view>

namespace tensorplay::train {
namespace {

// Pixels.
constexpr int kWidth = 920, kHeight = 400;
constexpr int kPanelTop = 78, kPanelBottom = 340, kPanelWidth = 370;
constexpr int kLossLeft = 66, kAccuracyLeft = 526;

// More dots would run into each other.
constexpr std::size_t kDotsMax = 60;

struct Curve {
  std::string_view label;
  std::string_view colour;
  std::string_view dashes;  // SVG's stroke-dasharray: legible without colours
  double EpochResult::*value;
};

struct Panel {
  std::string_view title;
  int left;
  Curve training;
  Curve test;
};

// Two colours that colour-blind people tell apart (Okabe and Ito).
constexpr std::string_view kTrainingColour = "#0072b2", kTestColour = "#d55e00";
constexpr Panel kLossPanel = {
    "Loss (mean cross-entropy)",
    kLossLeft,
    {"training rows", kTrainingColour, "none", &EpochResult::training_loss},
    {"test rows", kTestColour, "7 4", &EpochResult::test_loss}};
constexpr Panel kAccuracyPanel = {
    "Accuracy (share of rows)",
    kAccuracyLeft,
    {"training rows", kTrainingColour, "none", &EpochResult::training_accuracy},
    {"test rows", kTestColour, "7 4", &EpochResult::test_accuracy}};

// XML has no way to write control characters, and some bytes may be no UTF-8: both become '?'.
std::string escaped(const std::string& text) {
  std::string result;
  for (char letter : text) {
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += letter < ' ' || letter > '~' ? '?' : letter;
    }
  }
  return result;
}

std::string text(double x, double y, std::string_view attributes, const std::string& content) {
  return fmt::format("  <text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes,
                     escaped(content));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  return fmt::format("  <line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                     y1, x2, y2, attributes);
}

Axis epoch_axis(const Panel& panel, std::span<const EpochResult> results) {
  const double last = std::max(2, results.back().epoch);
  return {1, last, panel.left + 0.0, panel.left + kPanelWidth + 0.0, 8, 1};
}

Axis loss_axis(std::span<const EpochResult> results) {
  double most = 1e-6;
  for (const EpochResult& result : results) {
    most = std::max({most, result.training_loss, result.test_loss});
  }
  return {0, most, kPanelBottom, kPanelTop, 5};
}

Axis accuracy_axis(std::span<const EpochResult> results) {
  double least = 0.99;
  for (const EpochResult& result : results) {
    least = std::min({least, result.training_accuracy, result.test_accuracy});
  }
  return {least, 1, kPanelBottom, kPanelTop, 5};
}

std::string frame(const Panel& panel, const Axis& across, const Axis& upward) {
  const int right = panel.left + kPanelWidth;
  std::string svg;
  for (double tick : upward.ticks()) {
    const double y = upward.position(tick);
    svg += line(panel.left, y, right, y, "class=\"grid\"");
    svg += text(panel.left - 8, y + 4, "text-anchor=\"end\"", upward.label(tick));
  }
  for (double tick : across.ticks()) {
    const double x = across.position(tick);
    svg += line(x, kPanelBottom, x, kPanelBottom + 5, "class=\"axis\"");
    svg += text(x, kPanelBottom + 20, "text-anchor=\"middle\"", across.label(tick));
  }
  svg += line(panel.left, kPanelBottom, right, kPanelBottom, "class=\"axis\"");
  svg += line(panel.left, kPanelTop, panel.left, kPanelBottom, "class=\"axis\"");
  svg += text(panel.left + kPanelWidth / 2.0, kPanelBottom + 42, "text-anchor=\"middle\"", "epoch");
  svg += text(panel.left, kPanelTop - 16, "class=\"title\"", std::string(panel.title));
  return svg;
}

std::string curve_line(const Curve& curve, std::span<const EpochResult> results, const Axis& across,
                       const Axis& upward) {
  std::string points, dots;
  for (const EpochResult& result : results) {
    const double x = across.position(result.epoch), y = upward.position(result.*curve.value);
    points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x, y);
    dots += fmt::format("  <circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\" fill=\"{}\"/>\n", x, y,
                        curve.colour);
  }
  return fmt::format(
      "  <polyline class=\"curve\" points=\"{}\" stroke=\"{}\" stroke-dasharray=\"{}\"/>\n{}",
      points, curve.colour, curve.dashes, results.size() <= kDotsMax ? dots : "");
}

std::string legend_entry(const Curve& curve, double right, double y) {
  const std::string stroke = fmt::format("stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"",
                                         curve.colour, curve.dashes);
  return line(right - 120, y, right - 92, y, stroke) +
         text(right - 84, y + 4, "text-anchor=\"start\"", std::string(curve.label));
}

// The legend lies where curves don't: losses fall, accuracies rise.
std::string draw(const Panel& panel, std::span<const EpochResult> results, const Axis& upward,
                 double legend_top) {
  const Axis across = epoch_axis(panel, results);
  const double right = panel.left + kPanelWidth;
  return frame(panel, across, upward) + curve_line(panel.training, results, across, upward) +
         curve_line(panel.test, results, across, upward) +
         legend_entry(panel.training, right, legend_top) +
         legend_entry(panel.test, right, legend_top + 20);
}

constexpr std::string_view kStyle = R"(  <style>
    text { font: 12px sans-serif; fill: #333; }
    .caption { font-size: 15px; font-weight: bold; }
    .title { font-size: 13px; font-weight: bold; }
    .grid { stroke: #e3e3e3; }
    .axis { stroke: #555; }
    .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
  </style>
)";

}  // namespace

std::string curve_plot(std::span<const EpochResult> results, const std::string& caption) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "role=\"img\">\n",
      kWidth, kHeight);
  svg += fmt::format("  <title>{}</title>\n", escaped(caption));
  svg += kStyle;
  svg += fmt::format("  <rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n", kWidth, kHeight);
  svg += text(kLossLeft, 30, "class=\"caption\"", caption);
  svg += draw(kLossPanel, results, loss_axis(results), kPanelTop + 16);
  svg += draw(kAccuracyPanel, results, accuracy_axis(results), kPanelBottom - 36);
  return svg + "</svg>\n";
}

}  // namespace tensorplay::train
