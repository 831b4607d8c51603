/* quic: does a UDP payload open a QUIC connection? For words in a reason, never for a verdict: who does not
 * want to be known can look otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A client's first packet, by its long header (RFC 9000, RFC 9369, drafts of them, and versions that only ask
 * which there are). */
bool st_quic_is_first(const uint8_t *payload, size_t n);
