// Registers a test once per world.
//
//     TP_WORLD_TEST(sums_are_the_same_everywhere) {
//       BOOST_TEST(run_world(world, 4, body).findings() == "");
//     }
//
// makes the suite sums_are_the_same_everywhere with one case per world: those of threads in
// programs compiled with TENSORPLAY_THREAD_WORLDS, that of processes in the others. A source is
// compiled into two programs; see worlds.bzl.
#pragma once

#include "tests/worlds/findings.h"
#include "tests/worlds/worlds.h"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tensorplay::worlds {

#ifdef TENSORPLAY_THREAD_WORLDS
inline constexpr World kWorlds[] = {World::threads_on_one_mapping, World::threads_on_own_mappings};
#else
inline constexpr World kWorlds[] = {World::forked_processes};
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Whether this program's ranks are processes.
inline constexpr bool kForked = kWorlds[0] == World::forked_processes;

// Made by TP_WORLD_TEST before main().
class WorldTest {
 public:
  using Body = void (*)(World);
  WorldTest(const char* sentence, const char* file, std::size_t line, Body body) {
    namespace unit_test = boost::unit_test;
    auto& decorators = unit_test::decorator::collector_t::instance();
    unit_test::ut_detail::auto_test_unit_registrar open(sentence, file, line, decorators);
    for (World world : kWorlds) {
      unit_test::ut_detail::auto_test_unit_registrar add(
          unit_test::make_test_case([=] { body(world); }, name(world), file, line), decorators);
    }
    unit_test::ut_detail::auto_test_unit_registrar close(1);
  }
};

// The number that a random test starts from: $TENSORPLAY_TEST_SEED, or else a new one. Printed, so
// that a failure can be had again.
std::uint64_t seed_of_test(std::string_view test);

}  // namespace tensorplay::worlds

#define TP_WORLD_TEST(sentence)                                                               \
  static void sentence##_in(::tensorplay::worlds::World world);                               \
  static const ::tensorplay::worlds::WorldTest sentence##_test(#sentence, __FILE__, __LINE__, \
                                                               &sentence##_in);               \
  static void sentence##_in([[maybe_unused]] ::tensorplay::worlds::World world)
