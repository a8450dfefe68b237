#include "tools/tpbench/log_plot.h"

#include "tools/tpbench/log_axis.h"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace tensorplay::tpbench {
namespace {

// Pixels.
constexpr int kWidth = 860, kPanelHeight = 440;
constexpr int kLeft = 84, kRight = 660, kTop = 50, kBottom = 372;
constexpr int kLegendLeft = 682;
constexpr std::size_t kLabelsMax = 8;  // more would run into each other

constexpr double kMicro = 1e6;

// Colours that colour-blind people tell apart (Okabe and Ito), lighter ones on a dark background.
constexpr std::string_view kStyle = R"(  <style>
    svg { background: #fff; }
    text { font: 12px sans-serif; fill: #333; }
    .title { font-size: 14px; font-weight: bold; }
    .grid { stroke: #e3e3e3; }
    .axis { stroke: #555; }
    .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
    .yardstick { stroke: #777; stroke-dasharray: 2 4; }
    .ours0 { stroke: #0072b2; }
    .ours1 { stroke: #009e73; stroke-dasharray: 9 3; }
    .peer0 { stroke: #d55e00; stroke-dasharray: 6 4; }
    .peer1 { stroke: #b07800; stroke-dasharray: 3 3; }
    .peer2 { stroke: #aa4499; stroke-dasharray: 8 3 2 3; }
    @media (prefers-color-scheme: dark) {
      svg { background: #16181c; }
      text { fill: #ddd; }
      .grid { stroke: #33373d; }
      .axis { stroke: #aaa; }
      .yardstick { stroke: #999; }
      .ours0 { stroke: #56b4e9; }
      .ours1 { stroke: #2fd0a5; }
      .peer0 { stroke: #ff8a3d; }
      .peer1 { stroke: #e6b400; }
      .peer2 { stroke: #dd99cc; }
    }
  </style>
)";

std::string text(double x, double y, std::string_view attributes, std::string_view content) {
  return fmt::format("  <text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, content);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format(
      "  <line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1,
      x2, y2, style);
}

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// "10 ns", "1 us", "100 ms".
std::string time_text(double microseconds) {
  constexpr double kKilo = 1000;
  // Powers of ten are rounded on the way here.
  const double nanoseconds = std::round(microseconds * kKilo * 1e6) / 1e6;
  if (nanoseconds < kKilo) return fmt::format("{:g} ns", nanoseconds);
  if (nanoseconds < kKilo * kKilo) return fmt::format("{:g} us", nanoseconds / kKilo);
  if (nanoseconds < kKilo * kKilo * kKilo) {
    return fmt::format("{:g} ms", nanoseconds / kKilo / kKilo);
  }
  return fmt::format("{:g} s", nanoseconds / kKilo / kKilo / kKilo);
}

std::string frame(const Panel& panel, int top, const LogAxis& across, const LogAxis& upward) {
  const int bottom = top + kBottom;
  std::string svg = text(kLeft, top + 28, "class=\"title\"", panel.title);
  for (const double tick : upward.ticks()) {
    const double y = upward.position(tick);
    svg += line(kLeft, y, kRight, y, "grid");
    svg += text(kLeft - 8, y + 4, "text-anchor=\"end\"", time_text(tick));
  }
  const std::vector<double> sizes = across.ticks();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double x = across.position(sizes[i]);
    svg += line(x, bottom, x, bottom + 5, "axis");
    if (sizes.size() > kLabelsMax && i % 2 == 1) continue;
    svg += text(x, bottom + 20, "text-anchor=\"middle\"",
                bytes_text(static_cast<std::size_t>(sizes[i])));
  }
  svg += line(kLeft, bottom, kRight, bottom, "axis");
  svg += line(kLeft, top + kTop, kLeft, bottom, "axis");
  svg += text((kLeft + kRight) / 2.0, bottom + 42, "text-anchor=\"middle\"", "size of the buffer");
  const double middle = top + (kTop + kBottom) / 2.0;
  return svg +
         text(22, middle,
              fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 22 {:.1f})\"", middle),
              "time per operation");
}

std::string curve_line(const Curve& curve, const LogAxis& across, const LogAxis& upward) {
  std::string points;
  for (const Curve::Dot& dot : curve.dots) {
    points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", across.position(dot.bytes),
                          upward.position(dot.seconds * kMicro));
  }
  return fmt::format("  <polyline class=\"curve {}\" points=\"{}\"/>\n", curve.style, points);
}

std::string draw(const Panel& panel, int top) {
  Range bytes, micros;
  for (const Curve& curve : panel.curves) {
    for (const Curve::Dot& dot : curve.dots) {
      bytes.take(dot.bytes);
      micros.take(dot.seconds * kMicro);
    }
  }
  if (micros.most <= 0) return "";
  const LogAxis across(bytes.least, bytes.most, 4, kLeft, kRight);
  const LogAxis upward(micros.least, micros.most, 10, top + kBottom, top + kTop);
  std::string svg = frame(panel, top, across, upward);
  double y = top + kTop + 10;
  for (const Curve& curve : panel.curves) {
    svg += curve_line(curve, across, upward);
    svg += line(kLegendLeft, y, kLegendLeft + 32, y, "curve " + curve.style);
    svg += text(kLegendLeft + 40, y + 4, "text-anchor=\"start\"", curve.label);
    y += 20;
  }
  return svg;
}

bool belong_together(const Point& a, const Point& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.op == b.op && a.calls == b.calls &&
         a.ranks == b.ranks;
}

Panel empty_panel(const PointResult& first) {
  const Point& point = first.point;
  Panel panel{.title = fmt::format("{} {}{}{}, {} ranks", name(point.kind), name(point.dtype),
                                   point.reduces() ? " " : "",
                                   point.reduces() ? name(point.op) : "", point.ranks)};
  panel.curves.push_back({.label = "line or memcpy", .style = "yardstick"});
  int ours = 0, peers = 0;
  for (const ContestantResult& contestant : first.contestants) {
    panel.curves.push_back(
        {.label = contestant.is_ours ? "ours, " + contestant.name : contestant.name,
         .style =
             contestant.is_ours ? fmt::format("ours{}", ours++) : fmt::format("peer{}", peers++)});
  }
  return panel;
}

}  // namespace

std::string log_plot(const std::vector<Panel>& panels) {
  const int height = kPanelHeight * static_cast<int>(std::max<std::size_t>(panels.size(), 1));
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\">\n  <title>Time per operation by size</title>\n",
      kWidth, height);
  svg += kStyle;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    svg += draw(panels[i], kPanelHeight * static_cast<int>(i));
  }
  return svg + "</svg>\n";
}

std::vector<Panel> panels_of(std::span<const PointResult> results) {
  std::vector<Panel> panels;
  const PointResult* before = nullptr;
  for (const PointResult& result : results) {
    if (result.point.is_barrier()) continue;
    if (before == nullptr || !belong_together(before->point, result.point)) {
      panels.push_back(empty_panel(result));
    }
    before = &result;
    const auto bytes = static_cast<double>(result.point.whole_bytes());
    std::vector<Curve>& curves = panels.back().curves;
    curves[0].dots.push_back({bytes, result.yardstick()});
    for (std::size_t i = 0; i < result.contestants.size(); ++i) {
      curves[i + 1].dots.push_back({bytes, result.contestants[i].typical().median});
    }
  }
  return panels;
}

std::string plots_of(std::span<const PointResult> results) {
  return log_plot(panels_of(results));
}

}  // namespace tensorplay::tpbench
