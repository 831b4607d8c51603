/* unit: what every unit test includes, in the order that cmocka wants. */
#pragma once

#ifndef HAVE_CMOCKA
#error "cmocka was not there when configure ran: apt-get install libcmocka-dev, and run configure again"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
