/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
    DEEPEST = 64
};

static bool append_leaf(lbi_tree *tree, const double *durations) {
    size_t n = tree->processes;
    if (!lbi_array_reserve(&tree->leaves, &tree->leaf_capacity, tree->leaf_count + 1,
                           n * sizeof *tree->leaves))
        return false;
    memcpy(tree->leaves + tree->leaf_count++ * n, durations, n * sizeof *durations);
    return true;
}

static bool append_node(lbi_tree *tree, uint32_t ways) {
    if (!lbi_array_reserve(&tree->nodes, &tree->node_capacity, tree->node_count + ways + 1,
                           sizeof *tree->nodes))
        return false;
    tree->nodes[tree->node_count] = (int32_t)ways;
    tree->node_count += ways + 1;
    return true;
}

/* Hangs the latest leaf in: the path is as before up to choice `kept`, and new behind it. */
static bool hang_in(lbi_tree *tree, const lbi_script *script, size_t kept, int32_t path[DEEPEST]) {
    int32_t *cell = &tree->root;
    for (size_t i = 0; i < script->used; i++) {
        if (i >= kept) {
            int32_t node = (int32_t)tree->node_count;
            if (i > 0)
                tree->nodes[path[i - 1] + 1 + (int32_t)script->taken[i - 1]] = node;
            else
                tree->root = node;
            if (!append_node(tree, script->ways[i]))
                return false;
            path[i] = node;
        }
        cell = &tree->nodes[path[i] + 1 + (int32_t)script->taken[i]];
    }
    *cell = ~(int32_t)(tree->leaf_count - 1);
    return true;
}

lb_status lbi_tree_build(lbi_tree *tree, lbi_run *run, size_t limit, lb_error *err) {
    *tree = (lbi_tree){.processes = run->plan->size};
    uint32_t taken[DEEPEST], ways[DEEPEST];
    int32_t path[DEEPEST];
    lbi_script script = {.taken = taken, .ways = ways, .capacity = DEEPEST};
    double *durations = lbi_array_new(tree->processes, sizeof *durations);
    lb_status status = durations == NULL ? lbi_error_nomem(err, "an estimate") : LB_OK;
    run->engine.script = &script;
    size_t kept = 0;
    while (status == LB_OK) {
        script.used = 0;
        lbi_run_all(run, 0, durations, NULL);
        if (script.failed || tree->leaf_count == limit) {
            status = LB_ERR_LIMIT;
            break;
        }
        if (!append_leaf(tree, durations) || !hang_in(tree, &script, kept, path)) {
            status = lbi_error_nomem(err, "an estimate");
            break;
        }
        if (!lbi_script_next(&script))
            break;
        kept = script.length; /* the last of these choices is another, its node is not */
    }
    run->engine.script = NULL;
    free(durations);
    return status;
}

void lbi_tree_free(lbi_tree *tree) {
    free(tree->nodes);
    free(tree->leaves);
    *tree = (lbi_tree){0};
}

size_t lbi_tree_draw(const lbi_tree *tree, uint64_t seed) {
    lbi_random random;
    lbi_random_seed(&random, seed);
    int32_t at = tree->root;
    while (at >= 0) {
        const int32_t *node = &tree->nodes[at];
        at = node[1 + lbi_random_below(&random, (uint64_t)node[0])];
    }
    return (size_t)~at;
}
