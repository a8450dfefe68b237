#include "tools/train/curve_plot.h"

#include "tests/train/sample_report.h"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <sstream>

namespace tensorplay::train {
namespace {

using Tree = boost::property_tree::ptree;

// Throws where the text isn't well-formed.
Tree svg_of(std::span<const EpochResult> results, const std::string& caption) {
  std::istringstream stream(curve_plot(results, caption));
  Tree tree;
  boost::property_tree::read_xml(stream, tree);
  return tree.get_child("svg");
}

std::vector<std::string> texts(const Tree& svg) {
  std::vector<std::string> found;
  for (const auto& [tag, child] : svg) {
    if (tag == "text") found.push_back(child.data());
  }
  return found;
}

std::vector<std::pair<double, double>> points(const Tree& polyline) {
  std::istringstream stream(polyline.get<std::string>("<xmlattr>.points"));
  std::vector<std::pair<double, double>> found;
  double x = 0, y = 0;
  char comma = 0;
  while (stream >> x >> comma >> y) found.emplace_back(x, y);
  return found;
}

std::vector<EpochResult> descent(int epoch_count) {
  std::vector<EpochResult> results;
  for (int epoch = 1; epoch <= epoch_count; ++epoch) {
    const double loss = 2.3 / epoch;
    results.push_back({epoch, loss, loss * 1.5, 1 - loss / 4, 1 - loss / 3});
  }
  return results;
}

BOOST_AUTO_TEST_SUITE(curve_plot_document)

BOOST_AUTO_TEST_CASE(axes_and_curves_have_their_labels) {
  const std::vector<std::string> labels = texts(svg_of(descent(20), "digits.csv, 4 ranks"));
  for (const char* label : {"digits.csv, 4 ranks", "epoch", "Loss (mean cross-entropy)",
                            "Accuracy (share of rows)", "training rows", "test rows", "0", "20"}) {
    BOOST_TEST(std::ranges::count(labels, label) >= 1, label);
  }
}

BOOST_AUTO_TEST_CASE(each_curve_has_a_point_per_epoch_inside_the_picture) {
  for (int epoch_count : {1, 2, 3, 20, 500}) {
    const Tree svg = svg_of(descent(epoch_count), "");
    int curves = 0;
    for (const auto& [tag, child] : svg) {
      if (tag != "polyline") continue;
      ++curves;
      const auto curve = points(child);
      BOOST_TEST(curve.size() == static_cast<std::size_t>(epoch_count));
      for (const auto& [x, y] : curve) {
        BOOST_TEST((x >= 0 && x <= svg.get<double>("<xmlattr>.width")));
        BOOST_TEST((y >= 0 && y <= svg.get<double>("<xmlattr>.height")));
      }
    }
    BOOST_TEST(curves == 4);
  }
}

BOOST_AUTO_TEST_CASE(a_falling_loss_falls_on_paper) {
  const Tree svg = svg_of(descent(5), "");
  const auto loss = points(svg.get_child("polyline"));  // the first one
  BOOST_TEST(std::ranges::is_sorted(loss));             // by x
  for (std::size_t i = 1; i < loss.size(); ++i) BOOST_TEST(loss[i].second > loss[i - 1].second);
}

BOOST_AUTO_TEST_CASE(any_caption_and_a_loss_of_nothing_can_be_drawn) {
  const std::vector<EpochResult> perfect{{1, 0, 0, 1, 1}};
  const auto labels = texts(svg_of(perfect, "<a & \"b\">\x01\xff"));
  BOOST_TEST(std::ranges::count(labels, "<a & \"b\">??") == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
