"""The project's C++ rules: one list of flags, and tests that are Boost.Test programs.

Every C++ target of the project is one of these macros, so that a change of flags is one edit.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

# Kept by gcc 12 and clang 14 alike. Warnings become errors only with --config=ci: a newer compiler
# of somebody who merely uses the library must not break the build.
_COPTS = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    # Assertions stay on in optimised builds: a wrong word in shared memory must stop the rank that
    # wrote it.
    "-UNDEBUG",
]

_LINKOPTS = ["-pthread"]

# Takes effect with clang only (--config=layering); gcc has no module maps.
_FEATURES = ["layering_check"]

def tp_cc_library(name, copts = [], linkopts = [], features = [], **kwargs):
    """A cc_library with the project's flags; copts, linkopts and features are added to them."""
    cc_library(
        name = name,
        copts = _COPTS + copts,
        linkopts = _LINKOPTS + linkopts,
        features = _FEATURES + features,
        **kwargs
    )

def tp_cc_binary(name, copts = [], linkopts = [], features = [], **kwargs):
    """A cc_binary with the project's flags; copts, linkopts and features are added to them."""
    cc_binary(
        name = name,
        copts = _COPTS + copts,
        linkopts = _LINKOPTS + linkopts,
        features = _FEATURES + features,
        **kwargs
    )

def tp_cc_test(
        name,
        srcs,
        deps = [],
        size = "small",
        copts = [],
        linkopts = [],
        features = [],
        local_defines = [],
        **kwargs):
    """A Boost.Test program.

    Its sources include <boost/test/unit_test.hpp> and write suites and cases; main() and the name
    of the module come from here, whatever the number of sources. Results reach Bazel's test.xml
    case by case.

    Args:
      name: of the target, and of the test module.
      srcs: sources; several may share the one program.
      deps: what is tested.
      size: "small" (one minute) unless said otherwise; it sets the time-out.
      copts: added to the project's.
      linkopts: added to the project's.
      features: added to the project's.
      local_defines: added to Boost.Test's.
      **kwargs: every other attribute of cc_test: timeout, tags, args, data, env, flaky...
    """
    cc_test(
        name = name,
        srcs = srcs,
        size = size,
        copts = _COPTS + copts,
        linkopts = _LINKOPTS + linkopts,
        features = _FEATURES + features,
        local_defines = ["BOOST_TEST_DYN_LINK"] + local_defines,
        # The same objects serve tests and programs; a shared library per target would compile
        # everything twice.
        linkstatic = True,
        deps = deps + [
            str(Label("//tools/bazel:boost_test_main")),
            "@system_libs//:boost_test",
        ],
        **kwargs
    )
