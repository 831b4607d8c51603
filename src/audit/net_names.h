/* net_names: protocol numbers and DNS query types as words in a record, and back. */
#pragma once

#include "model/str.h"

#include <stdint.h>

/* In quotes: "tcp"; one that has no name here as its number: "253". */
char *st_put_protocol(char *p, uint8_t protocol);

/* In quotes: "AAAA"; one that has no name here as in RFC 3597: "TYPE65280". */
char *st_put_qtype(char *p, uint16_t qtype);

/* -1: no such name, or a number written otherwise than above. */
int st_protocol_by_name(struct st_str name);
int st_qtype_by_name(struct st_str name);
