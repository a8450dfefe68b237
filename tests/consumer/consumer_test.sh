#!/usr/bin/env bash
# A project outside this tree names TensorPlay in its WORKSPACE, links //:distributed and runs.
set -euo pipefail

sources=$PWD/tests/consumer/workspace
tree=$(dirname "$(readlink -f WORKSPACE)")

# Not in $TEST_TMPDIR: Bazel refuses to work inside the output folders of another Bazel.
place=$(mktemp -d "${TMPDIR:-/tmp}/tensorplay-consumer.XXXXXX")
bazel=(bazel "--output_user_root=$place/outputs" --max_idle_secs=30)

clean_up() {
  set +e
  cd "$place/project"
  "${bazel[@]}" shutdown >/dev/null 2>&1
  cd /
  # Bazel takes the right to write from the folders that it fills.
  chmod -R u+w "$place"
  rm -rf "$place"
}
trap clean_up EXIT
trap 'exit 1' TERM INT

mkdir "$place/project"
sed "s|TENSORPLAY_PATH|$tree|" "$sources/WORKSPACE.template" >"$place/project/WORKSPACE"
cp "$sources/BUILD.template" "$place/project/BUILD"
cp "$sources/program.cc" "$place/project/program.cc"

cd "$place/project"
"${bazel[@]}" build --noshow_progress --nosandbox_debug //:program
bazel-bin/program
