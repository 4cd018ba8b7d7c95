// SPDX-License-Identifier: MIT
// The pages of examples/page as examples/cmake/embed_page.cmake puts them into the program, without their data.
#ifndef HEADRACE_EXAMPLES_CLI_PAGE_PARTS_HPP
#define HEADRACE_EXAMPLES_CLI_PAGE_PARTS_HPP

#include <cstddef>

namespace headrace::cli {

extern const unsigned char page_head_bytes[];
extern const std::size_t page_head_size;  ///< 0 where the libraries were missing when the program was built
extern const unsigned char page_tail_bytes[];
extern const std::size_t page_tail_size;
extern const unsigned char book_head_bytes[];
extern const std::size_t book_head_size;
extern const unsigned char book_tail_bytes[];
extern const std::size_t book_tail_size;

}  // namespace headrace::cli

#endif
