"""Tests whose ranks are threads in one program and processes in another, from the same sources."""

load("//tools/bazel:tensorplay.bzl", "tp_cc_test")

def tp_world_test(name, srcs, deps = [], threads = True, local_defines = [], tags = [], **kwargs):
    """Two test programs: NAME_threads_test and NAME_forked_test.

    Args:
      name: without "_test".
      srcs: sources with TP_WORLD_TEST.
      deps: beside the harness.
      threads: False for what only processes can do; no thread program is made then.
      local_defines: added.
      tags: added to both.
      **kwargs: as for tp_cc_test.
    """
    deps = deps + ["//tests/worlds"]
    if threads:
        tp_cc_test(
            name = name + "_threads_test",
            srcs = srcs,
            local_defines = local_defines + ["TENSORPLAY_THREAD_WORLDS"],
            tags = tags + ["threads"],
            deps = deps,
            **kwargs
        )
    tp_cc_test(
        name = name + "_forked_test",
        srcs = srcs,
        local_defines = local_defines,
        # The thread sanitizer knows nothing of other processes, and forbids forking with threads.
        tags = tags + ["no_tsan"],
        deps = deps,
        **kwargs
    )
