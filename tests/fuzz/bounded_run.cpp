#include "tests/fuzz/bounded_run.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tensorplay::fuzz {

void bound_run(const std::vector<std::vector<std::uint8_t>>& seeds, int* argc, char*** argv) {
  if (*argc > 1) return;
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::filesystem::path corpus =
      std::filesystem::path(folder == nullptr ? "/tmp" : folder) / "corpus";
  std::filesystem::create_directories(corpus);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(corpus / std::to_string(i), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seeds[i].data()),
               static_cast<std::streamsize>(seeds[i].size()));
  }
  static std::vector<std::string> words{
      (*argv)[0],       "-max_total_time=20",   "-timeout=20",     "-max_len=512",
      "-len_control=0", "-print_final_stats=1", "-rss_limit_mb=0", corpus.string()};
  static std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  *argc = static_cast<int>(words.size());
  *argv = pointers.data();
}

}  // namespace tensorplay::fuzz
