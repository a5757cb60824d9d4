/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_MODEL_MODEL_TEXT_H
#define LBI_MODEL_MODEL_TEXT_H

#include "base/error.h"

/* The text of a model file, `length` bytes. */
lb_status lbi_model_parse(const char *text, size_t length, lb_model **ret_model, lb_error *err);

#endif
