// What a check found.
#pragma once

#include <string>
#include <vector>

namespace tensorplay::tidy {

struct Finding {
  std::string path;
  int line;  // from 1
  std::string remedy;
};
using Findings = std::vector<Finding>;

// "path:line: remedy", one line each.
inline std::string to_string(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.path + ":" + std::to_string(finding.line) + ": " + finding.remedy + "\n";
  }
  return text;
}

}  // namespace tensorplay::tidy
