# SPDX-License-Identifier: BSD-3-Clause
# Pages for the manual: a page's title must be its first line, and there are no examples or tests to link to.
1{/^<!-- SPDX/d}
s/\[([^]]*)\]\((examples|tests)[^)]*\)/\1/g
