/* sign: Ed25519 keys of the host, which sign the checkpoints of its traces.
 *
 * libsodium for the signature (small, static, nothing to start), nettle for SHA-256. A key is two files of
 * one line each in the key directory:
 *
 *   trace.key   0600   sandtrace-ed25519-secret BASE64 of the 32-byte seed
 *   trace.pub   0644   sandtrace-ed25519-public BASE64 of the 32-byte public key
 *
 * A secret that somebody else owns, or may read, is refused. The key id is "ed25519:" and the first 16 hex
 * digits of SHA-256 of the public key. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define ST_KEY_NAME "trace" /* .key, .pub */
#define ST_KEY_ID_SIZE sizeof("ed25519:0123456789abcdef")
#define ST_PUBLIC_KEY_SIZE 32
#define ST_SIGNATURE_SIZE 64

struct st_signer;

struct st_public_key {
    unsigned char bytes[ST_PUBLIC_KEY_SIZE];
    char id[ST_KEY_ID_SIZE];
};

/* The signer of key_dir. -ENOENT: there is no key yet. */
int st_signer_load(const char *key_dir, struct st_signer **out, struct st_error *err);
void st_signer_free(struct st_signer *s); /* wipes the secret */
void st_signer_freep(struct st_signer **s);
#define st_auto_signer __attribute__((cleanup(st_signer_freep))) struct st_signer *

const struct st_public_key *st_signer_public(const struct st_signer *s);
void st_sign(const struct st_signer *s, const void *message, size_t n, unsigned char out[ST_SIGNATURE_SIZE]);

/* A public key file; at most one key in it. */
int st_public_key_load(const char *path, struct st_public_key *out, struct st_error *err);
bool st_signature_valid(const struct st_public_key *key, const void *message, size_t n,
                        const unsigned char signature[ST_SIGNATURE_SIZE]);

/* Makes a new key pair in key_dir (made where it is missing; it may be readable, the secret is not). Never
 * overwrites: -EEXIST where either file is there. */
int st_keygen(const char *key_dir, struct st_public_key *out, struct st_error *err);
