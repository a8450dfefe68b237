#include "tests/tidy/source_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace tensorplay::tidy {
namespace {

// Takes a C++ text apart, character by character.
class Separator {
 public:
  explicit Separator(const std::string& text) : text_(text) {}

  void run() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        comment_until("\n");
      } else if (starts("/*")) {
        comment_until("*/");
        keep(comments, 2);
      } else if (starts("R\"")) {
        raw_string();
      } else if (text_[at_] == '"' || (text_[at_] == '\'' && !in_number())) {
        quoted(text_[at_]);
      } else {
        keep(code, 1);
      }
    }
  }

  std::string code;
  std::string comments;

 private:
  bool starts(std::string_view part) const { return text_.compare(at_, part.size(), part) == 0; }

  // Whether a ' separates digits.
  bool in_number() const {
    return at_ > 0 && at_ + 1 < text_.size() &&
           std::isxdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0 &&
           std::isxdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0;
  }

  // Copies characters to one of the two texts, and blanks to the other.
  void keep(std::string& to, std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      const char blank = text_[at_] == '\n' ? '\n' : ' ';
      code += &to == &code ? text_[at_] : blank;
      comments += &to == &comments ? text_[at_] : blank;
    }
  }

  void blank(std::size_t count) {
    std::string nowhere;
    keep(nowhere, count);
  }

  void comment_until(std::string_view end) {
    keep(comments, 2);
    while (at_ < text_.size() && !starts(end)) keep(comments, 1);
  }

  void quoted(char quote) {
    keep(code, 1);
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      blank(text_[at_] == '\\' ? 2 : 1);
    }
    keep(code, 1);
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    const std::string end = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
    const std::size_t close = text_.find(end, at_);
    blank(close == std::string::npos ? text_.size() - at_ : close + end.size() - at_);
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)), lines_(split_lines(text_)) {
  if (!is_cpp()) return;
  Separator separator(text_);
  separator.run();
  code_ = split_lines(separator.code);
  comments_ = split_lines(separator.comments);
}

bool SourceFile::is_below(std::string_view folder) const {
  return path_.compare(0, folder.size(), folder) == 0;
}

bool SourceFile::has_extension(std::string_view extension) const {
  return path_.size() > extension.size() &&
         path_.compare(path_.size() - extension.size(), extension.size(), extension) == 0;
}

bool SourceFile::is_cpp() const {
  return is_header() || has_extension(".cpp") || has_extension(".cc") || has_extension(".hpp");
}

std::string SourceFile::stem() const {
  return std::filesystem::path(path_).stem().string();
}

}  // namespace tensorplay::tidy
