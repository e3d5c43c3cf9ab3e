"""Speed: the kernels against C++ on the same work, and the agents against OpenSpiel's."""
