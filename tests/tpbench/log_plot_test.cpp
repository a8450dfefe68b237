// Where things lie in the plot of time by size.

#include "tools/tpbench/log_plot.h"
#include "tools/tpbench/log_axis.h"

#include <boost/test/tools/floating_point_comparison.hpp>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

namespace tt = boost::test_tools;

// Two sizes, ours and one peer.
std::vector<PointResult> two_points() {
  std::vector<PointResult> results;
  for (const std::size_t bytes : {4, 1024}) {
    PointResult result;
    result.point.bytes = bytes;
    result.usable_cpus = 2;
    result.limits.line = 1e-7;
    const double seconds = bytes == 4 ? 1e-6 : 1e-4;
    result.contestants.push_back({"private", true, {{seconds, seconds, seconds, seconds}}});
    result.contestants.push_back(
        {"openmpi", false, {{seconds * 2, seconds * 2, seconds * 2, seconds * 2}}});
    results.push_back(result);
  }
  return results;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(log_plot_geometry)

BOOST_AUTO_TEST_CASE(equal_ratios_are_equal_distances) {
  const LogAxis axis(1, 1000, 10, 0, 300);
  BOOST_TEST(axis.position(1) == 0, tt::tolerance(1e-9));
  BOOST_TEST(axis.position(10) == 100, tt::tolerance(1e-9));
  BOOST_TEST(axis.position(1000) == 300, tt::tolerance(1e-9));
  BOOST_TEST(axis.position(100) - axis.position(20) == axis.position(10) - axis.position(2),
             tt::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(an_axis_is_widened_to_whole_powers) {
  const LogAxis axis(0.3, 40, 10, 400, 100);
  BOOST_TEST(axis.ticks() == (std::vector<double>{0.1, 1, 10, 100}), tt::per_element());
  BOOST_TEST(axis.position(0.1) == 400, tt::tolerance(1e-9));
  BOOST_TEST(axis.position(100) == 100, tt::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(exact_powers_are_their_own_ends) {
  const LogAxis axis(4, 64.0 * 1024 * 1024, 4, 0, 1);
  BOOST_TEST(axis.ticks().size() == 13u);
  BOOST_TEST(axis.ticks().front() == 4);
}

BOOST_AUTO_TEST_CASE(a_single_value_still_has_an_axis) {
  const LogAxis axis(10, 10, 10, 0, 100);
  BOOST_TEST(axis.ticks().size() == 2u);
  BOOST_TEST(axis.position(10) == 0, tt::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_panel_has_the_limit_ours_and_the_peers) {
  const auto panels = panels_of(two_points());
  BOOST_REQUIRE(panels.size() == 1u);
  BOOST_REQUIRE(panels[0].curves.size() == 3u);
  BOOST_TEST(panels[0].title == "all_reduce float32 sum, 2 ranks");
  BOOST_TEST(panels[0].curves[0].label == "line or memcpy");
  BOOST_TEST(panels[0].curves[1].label == "ours, private");
  BOOST_TEST(panels[0].curves[2].label == "openmpi");
  BOOST_TEST(panels[0].curves[1].dots[1].bytes == 1024);
  BOOST_TEST(panels[0].curves[2].dots[1].seconds == 2e-4);
}

BOOST_AUTO_TEST_CASE(other_ranks_begin_another_panel_and_barriers_have_none) {
  auto results = two_points();
  results[1].point.ranks = 4;
  BOOST_TEST(panels_of(results).size() == 2u);
  results[1].point.kind = distributed::CollectiveKind::barrier;
  BOOST_TEST(panels_of(results).size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_picture_names_its_axes_with_their_units_and_follows_the_background) {
  const std::string svg = plots_of(two_points());
  BOOST_TEST(svg.starts_with("<svg "));
  BOOST_TEST(svg.ends_with("</svg>\n"));
  BOOST_TEST(contains(svg, ">time per operation<"));
  BOOST_TEST(contains(svg, ">size of the buffer<"));
  BOOST_TEST(contains(svg, ">1 KiB<"));
  BOOST_TEST(contains(svg, ">100 ns<"));
  BOOST_TEST(contains(svg, ">1 us<"));
  BOOST_TEST(contains(svg, ">1 ms<"));
  BOOST_TEST(contains(svg, ">ours, private<"));
  BOOST_TEST(contains(svg, "prefers-color-scheme: dark"));
}

// From 1 us at 4 bytes to 100 us at 1 KiB: from corner to corner, less the limit's decade and the
// one that the peer needs.
BOOST_AUTO_TEST_CASE(curves_lie_where_their_values_are) {
  const std::string svg = plots_of(two_points());
  BOOST_TEST(contains(svg, "class=\"curve ours0\" points=\"84.0,291.5 660.0,130.5\""), svg);
}

BOOST_AUTO_TEST_CASE(where_sizes_are_many_every_other_one_is_labelled) {
  auto results = two_points();
  BOOST_TEST(contains(plots_of(results), ">16 B<"));
  results[1].point.bytes = std::size_t{64} << 20;
  const std::string svg = plots_of(results);
  BOOST_TEST(contains(svg, ">4 B<"));
  BOOST_TEST(!contains(svg, ">16 B<"));
  BOOST_TEST(contains(svg, ">64 MiB<"));
}

BOOST_AUTO_TEST_CASE(no_result_is_an_empty_picture) {
  BOOST_TEST(panels_of({}).empty());
  BOOST_TEST(plots_of({}).ends_with("</svg>\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
