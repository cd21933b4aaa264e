"""What all packages use: errors, files, threads, the cache of kernels, progress displays."""
