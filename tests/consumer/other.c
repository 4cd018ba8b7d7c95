/* SPDX-License-Identifier: MIT */
/* In C; as C++ where the project has no other language. */
#include <stdio.h>

#include "kws_model.h"

int main(void) {
    printf("other: %lu bytes, %s is %s\n", (unsigned long)kws_model_size, kws_io.inputs[0].name,
           kws_io.inputs[0].dtype);
    return 0;
}
