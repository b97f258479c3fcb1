/* SPDX-License-Identifier: Apache-2.0 */
/* The energy gauge for C (C11): the questions and answers of narrowgauge/power/gauge.hpp, which says what the fields
 * mean; docs/energy.md is the manual. Nothing is thrown and nothing is printed: each call returns a code and, where it
 * is not NG_POWER_OK, writes a sentence into the caller's buffer that names the field, its value and its range. */
#ifndef NARROWGAUGE_POWER_H
#define NARROWGAUGE_POWER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the structs below; a library keeps answering questions of older versions. 2: b_format. */
#define NG_POWER_VERSION 2u

typedef enum ng_power_result {
  NG_POWER_OK = 0,
  NG_POWER_BAD_QUESTION = 1, /* the message says which field, its value and what it may be */
  NG_POWER_BAD_ARGUMENT = 2, /* a null pointer or another version */
  NG_POWER_TOO_SMALL = 3,    /* the buffer for the answer; the size needed has been written */
  NG_POWER_FAULT = 4         /* no memory, unreadable data */
} ng_power_result;

/* In the order of the C++ enumerations. */
enum {
  NG_POWER_INTEGER,
  NG_POWER_FP8_E4M3,
  NG_POWER_FP8_E5M2,
  NG_POWER_NVFP4,
  NG_POWER_MXFP4,
  NG_POWER_BF16,
  NG_POWER_FP16,
  NG_POWER_FP32,
  NG_POWER_TF32,
  NG_POWER_FP4_E2M1, /* without block scales */
  NG_POWER_FP4_E3M0
};
enum { NG_POWER_SAME_FORMAT = -1 }; /* b_format: that of operand a */
enum { NG_POWER_ARRAY, NG_POWER_BOOTH, NG_POWER_WALLACE, NG_POWER_SERIAL, NG_POWER_NO_MULTIPLIER };
enum { NG_POWER_PLAIN, NG_POWER_SORTED, NG_POWER_DUAL, NG_POWER_MUXED };
enum { NG_POWER_UNIFORM, NG_POWER_GAUSS, NG_POWER_HALF_NORMAL, NG_POWER_HISTOGRAM };
enum {
  NG_POWER_BEST,
  NG_POWER_L0,
  NG_POWER_L1,
  NG_POWER_L2,
  NG_POWER_L3,
  NG_POWER_L4,
  NG_POWER_L5,
  NG_POWER_CITED /* in answers only */
};
enum { NG_POWER_REFINED, NG_POWER_PANN_PAPER };
enum { NG_POWER_JOULE, NG_POWER_FLIP };

typedef struct ng_power_operand {
  int32_t distribution;
  uint32_t histogram_size; /* 2^width with NG_POWER_HISTOGRAM, else ignored */
  const double *histogram; /* how often each code occurs; read during the call only */
} ng_power_operand;

typedef struct ng_power_question {
  uint32_t version;
  int32_t format, a_width, b_width, a_signed, b_signed, structure, lanes, accumulator, acc_width, schedule;
  double additions;
  ng_power_operand a, b;
  const char *technology; /* null: osu018; with NG_POWER_PANN_PAPER, none: the answer is in flips */
  const char *stimulus;   /* null: the one like the distributions */
  int32_t rung, mode, strict;
  double count;
  double energy_per_flip; /* joules; 0: not given */
  int32_t b_format;       /* since version 2: where operand b has another format than `format`, which is a's then */
} ng_power_question;

typedef struct ng_power_answer {
  uint32_t version;
  int32_t unit, rung, mode, in_range, verified;
  double value, each;
  double error_mean_abs, error_max_abs; /* relative; NaN where not known */
  double leakage_w;                     /* NaN where not known */
  char technology[64], calibration[80], record[64], netlist_sha256[65], stimulus_sha256[65];
} ng_power_answer;

/* int8 x int8 on an array multiplier with a 32-bit accumulator, uniform operands, one of them, best rung. */
static inline ng_power_question ng_power_question_default(void) {
  ng_power_question question = {NG_POWER_VERSION,
                                NG_POWER_INTEGER,
                                8,
                                8,
                                1,
                                1,
                                NG_POWER_ARRAY,
                                1,
                                1,
                                32,
                                NG_POWER_PLAIN,
                                0.0,
                                {NG_POWER_UNIFORM, 0, NULL},
                                {NG_POWER_UNIFORM, 0, NULL},
                                NULL,
                                NULL,
                                NG_POWER_BEST,
                                NG_POWER_REFINED,
                                0,
                                1.0,
                                0.0,
                                NG_POWER_SAME_FORMAT};
  return question;
}

typedef struct ng_power ng_power;

/* Opens the gauge with the library's data and `calibrations` further files (count 0: none). `message` may be null.
 * A gauge may be used by any number of threads at once. */
ng_power_result ng_power_open(const char *const *calibrations, size_t count, ng_power **gauge, char *message,
                              size_t message_size);
void ng_power_close(ng_power *gauge); /* null: nothing */

ng_power_result ng_power_energy(const ng_power *gauge, const ng_power_question *question, ng_power_answer *answer,
                                char *message, size_t message_size);

/* The same in JSON, null-terminated: `answer` receives the answer, or {"error": ...} with NG_POWER_BAD_QUESTION.
 * `needed` (may be null) receives the size that the buffer must have, terminator included. */
ng_power_result ng_power_energy_json(const ng_power *gauge, const char *question, char *answer, size_t answer_size,
                                     size_t *needed);

#ifdef __cplusplus
}
#endif

#endif
