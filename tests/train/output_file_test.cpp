#include "tools/train/output_file.h"

#include "tests/train/temporary_folder.h"
#include "tests/train/thrown_message.h"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>

namespace tensorplay::train {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

BOOST_AUTO_TEST_SUITE(output_file)

BOOST_AUTO_TEST_CASE(a_file_is_written_whole_and_nothing_else_is_left) {
  const TemporaryFolder folder;
  write_atomically(folder / "a", "first");
  write_atomically(folder / "a", "second");
  BOOST_TEST(content(folder / "a") == "second");
  BOOST_TEST(folder.entry_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_link_is_followed) {
  const TemporaryFolder folder;
  write_atomically(folder / "real", "first");
  std::filesystem::create_symlink("real", folder / "link");
  write_atomically(folder / "link", "second");
  BOOST_TEST(std::filesystem::is_symlink(folder / "link"));
  BOOST_TEST(content(folder / "real") == "second");
}

BOOST_AUTO_TEST_CASE(a_device_is_written_to_and_not_replaced) {
  require_writable("/dev/null", "--out");
  write_atomically("/dev/null", "text");
  BOOST_TEST(std::filesystem::is_character_file("/dev/null"));
  BOOST_TEST(thrown_message([] { write_atomically("/dev/full", "text"); }) ==
             "'/dev/full' couldn't be written: No space left on device");
  BOOST_TEST(std::filesystem::is_character_file("/dev/full"));
}

BOOST_AUTO_TEST_CASE(one_file_for_two_purposes_is_refused) {
  const TemporaryFolder folder;
  write_atomically(folder / "a", "data");
  std::filesystem::create_symlink("a", folder / "b");
  require_different(folder / "c", "--out", folder / "a", "--data");
  require_different("", "--out", "", "--plot");
  BOOST_TEST(
      thrown_message([&] { require_different(folder / "b", "--out", folder / "a", "--data"); }) ==
      "--out and --data both name '" + (folder / "b").string() + "'; give each a file of its own");
}

BOOST_AUTO_TEST_CASE(trying_leaves_no_trace) {
  const TemporaryFolder folder;
  require_writable(folder / "a", "--out");
  BOOST_TEST(folder.entry_count() == 0);
  write_atomically(folder / "a", "kept");
  require_writable(folder / "a", "--out");
  BOOST_TEST(content(folder / "a") == "kept");
  BOOST_TEST(folder.entry_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_missing_or_closed_is_told) {
  const TemporaryFolder folder;
  const std::string missing = (folder / "no" / "a").string();
  BOOST_TEST(thrown_message([&] { require_writable(missing, "--out"); }) ==
             "--out '" + missing +
                 "' can't be written (No such file or directory); choose a file "
                 "in a folder that exists and is yours to write");
  BOOST_TEST(thrown_message([&] { write_atomically(missing, "x"); }) ==
             "'" + missing + "' couldn't be written: No such file or directory");
  BOOST_TEST(thrown_message([] {
               require_writable("/proc/a", "--out");
             }).starts_with("--out '/proc/a' can't be written ("));
}

BOOST_AUTO_TEST_CASE(a_directory_is_no_file) {
  const TemporaryFolder folder;
  const std::string path = (folder / "").string();
  BOOST_TEST(thrown_message([&] { require_writable(path, "--plot"); }) ==
             "--plot '" + path + "' is a directory; give the name of a file");
  BOOST_TEST(thrown_message([&] { write_atomically(folder / ".", "x"); }).starts_with("'"));
  BOOST_TEST(folder.entry_count() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
