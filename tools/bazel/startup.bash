# Sourced by the scripts: sets bazel=(...), the command with the start-up options that this account
# needs.

bazel=(bazel)
# Bazel keeps its outputs under $HOME, which some containers and build accounts don't have, or may
# not write.
if [[ -z "${HOME:-}" || ! -w "$HOME" ]]; then
  HOME="${TMPDIR:-/tmp}/tensorplay-home-$(id -u)"
  export HOME
  mkdir -p "$HOME"
  bazel+=("--output_user_root=$HOME/bazel")
fi
