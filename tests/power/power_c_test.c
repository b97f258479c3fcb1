/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface from C11: compiled as C, so that its header is C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "narrowgauge/power.h"

static int failures = 0;

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "not so: %s\n", what);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition)

int main(void) {
  char message[256], json[4096];
  ng_power *gauge = NULL;
  EXPECT(ng_power_open(NULL, 0, NULL, message, sizeof message) == NG_POWER_BAD_ARGUMENT);
  const char *missing = "no/such/calibration.json";
  EXPECT(ng_power_open(&missing, 1, &gauge, message, sizeof message) == NG_POWER_FAULT);
  EXPECT(gauge == NULL && strstr(message, missing) != NULL);
  if (ng_power_open(NULL, 0, &gauge, message, sizeof message) != NG_POWER_OK) {
    fprintf(stderr, "%s\n", message);
    return EXIT_FAILURE;
  }

  ng_power_answer answer;
  ng_power_question question = ng_power_question_default();
  question.mode = NG_POWER_PANN_PAPER;
  question.a_width = question.b_width = 4;
  question.count = 10;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_OK);
  EXPECT(answer.version == NG_POWER_VERSION && answer.unit == NG_POWER_FLIP);
  EXPECT(answer.each == 36 && answer.value == 360 && isnan(answer.error_mean_abs));
  EXPECT(answer.mode == NG_POWER_PANN_PAPER && strcmp(answer.technology, "") == 0 && strcmp(message, "") == 0);
  question.energy_per_flip = 5e-15;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_OK);
  EXPECT(answer.unit == NG_POWER_JOULE && fabs(answer.each - 180e-15) < 1e-20);

  question = ng_power_question_default();
  question.technology = "horowitz_45nm";
  EXPECT(ng_power_energy(gauge, &question, &answer, NULL, 0) == NG_POWER_OK);
  EXPECT(fabs(answer.value - 0.3e-12) < 1e-18 && answer.rung == NG_POWER_CITED && answer.verified);
  EXPECT(strcmp(answer.technology, "horowitz_45nm") == 0);

  question.a_width = 17;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_BAD_QUESTION);
  EXPECT(strstr(message, "a_width is 17") != NULL && strstr(message, "1 to 16") != NULL);
  char small[8];
  EXPECT(ng_power_energy(gauge, &question, &answer, small, sizeof small) == NG_POWER_BAD_QUESTION);
  EXPECT(strcmp(small, "a_width") == 0);
  question.a_width = 8;
  question.format = 99;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_BAD_QUESTION);
  question = ng_power_question_default();
  question.a.distribution = NG_POWER_HISTOGRAM;
  const double counts[3] = {1, 2, 3};
  question.a.histogram = counts;
  question.a.histogram_size = 3;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_BAD_QUESTION);
  EXPECT(strstr(message, "3 entries") != NULL);
  question = ng_power_question_default();
  question.b_format = NG_POWER_FP4_E3M0;
  question.a_width = 8; /* LUQ's are INT4 x FP4 [1,3,0] */
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_BAD_QUESTION);
  EXPECT(strstr(message, "a_width is 8") != NULL && strstr(message, "4") != NULL);
  question.a_width = 4;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_OK);
  question.a_width = 8;
  question.b_format = 11;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_BAD_QUESTION);
  question.b_format = NG_POWER_INTEGER;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_OK);
  question.version = 1; /* which has no b_format: it is not read */
  question.b_format = 99;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_OK);
  EXPECT(answer.version == 1);
  question.version = NG_POWER_VERSION + 1;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_BAD_ARGUMENT);
  question.version = 0;
  EXPECT(ng_power_energy(gauge, &question, &answer, message, sizeof message) == NG_POWER_BAD_ARGUMENT);
  EXPECT(ng_power_energy(NULL, &question, &answer, message, sizeof message) == NG_POWER_BAD_ARGUMENT);

  size_t needed = 0;
  const char *asked = "{\"format\": \"int4\", \"mode\": \"pann_paper\"}";
  EXPECT(ng_power_energy_json(gauge, asked, json, sizeof json, &needed) == NG_POWER_OK);
  EXPECT(strstr(json, "\"value\":36") != NULL && needed == strlen(json) + 1);
  EXPECT(ng_power_energy_json(gauge, asked, json, needed, NULL) == NG_POWER_OK);
  EXPECT(ng_power_energy_json(gauge, asked, json, needed - 1, &needed) == NG_POWER_TOO_SMALL);
  EXPECT(ng_power_energy_json(gauge, asked, NULL, 0, &needed) == NG_POWER_TOO_SMALL && needed > 0);
  EXPECT(ng_power_energy_json(gauge, "{\"format\": 3}", json, sizeof json, &needed) == NG_POWER_BAD_QUESTION);
  EXPECT(strstr(json, "{\"error\":{\"field\":\"format\"") == json);
  EXPECT(ng_power_energy_json(gauge, NULL, json, sizeof json, &needed) == NG_POWER_BAD_ARGUMENT);

  ng_power_close(gauge);
  ng_power_close(NULL);
  if (failures == 0) printf("C interface: all as expected\n");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
