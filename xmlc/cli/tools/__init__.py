"""Commands that serve developers: benchmarks, compilation, same bits."""
