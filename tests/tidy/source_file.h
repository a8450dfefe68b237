// A file of the tree, as the checks want to see it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tensorplay::tidy {

class SourceFile {
 public:
  SourceFile(std::string path, std::string text);

  const std::string& path() const { return path_; }  // from the top of the tree
  const std::string& text() const { return text_; }
  const std::vector<std::string>& lines() const { return lines_; }
  // The lines with blanks instead of comments and of what stands between quotes; and the comments
  // with blanks instead of everything else. C++ only.
  const std::vector<std::string>& code() const { return code_; }
  const std::vector<std::string>& comments() const { return comments_; }

  bool is_below(std::string_view folder) const;  // "lib/"
  bool has_extension(std::string_view extension) const;
  bool is_header() const { return has_extension(".h"); }
  bool is_cpp() const;
  std::string stem() const;  // "matrix" of "lib/linear/matrix.cpp"

 private:
  std::string path_;
  std::string text_;
  std::vector<std::string> lines_;
  std::vector<std::string> code_;
  std::vector<std::string> comments_;
};

std::vector<std::string> split_lines(const std::string& text);

}  // namespace tensorplay::tidy
