/* SPDX-License-Identifier: BSD-3-Clause */
/* All realisations of a small problem as a tree of choices, so that to draw one is to walk down. It
 * gives what the engine would give for the same seed, to the last bit. */
#ifndef LBI_MODEL_TREE_H
#define LBI_MODEL_TREE_H

#include "plan.h"

typedef struct lbi_tree {
    size_t processes;
    /* A node is its number of ways, followed by a cell for each: the place of another node, or the
     * complement of a leaf's number. */
    int32_t *nodes;
    size_t node_count, node_capacity;
    double *leaves; /* the durations of one realisation each */
    size_t leaf_count, leaf_capacity;
    int32_t root;
} lbi_tree;

/* LB_ERR_LIMIT: more than `limit` leaves. Whatever it returns, lbi_tree_free() is due. */
lb_status lbi_tree_build(lbi_tree *tree, lbi_run *run, size_t limit, lb_error *err);
void lbi_tree_free(lbi_tree *tree);
/* The leaf that lbi_run_all() with that seed ends in. */
size_t lbi_tree_draw(const lbi_tree *tree, uint64_t seed);

#endif
