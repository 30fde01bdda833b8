import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { createCipher } from './cipher.ts';
import type { EncryptionKey } from './keys.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
const owner = 'temporal-payload';
const sealedEncoding = 'binary/encrypted';
const text = new TextEncoder();

/**
 * Seals the payloads sent to Temporal and opens those that come back. The key's id is stored in their metadata, as in
 * Temporal's own samples. An unsealed payload passes unchanged, so that histories from before encryption was turned on
 * stay readable. `decode` throws SealedError.
 */
export function createPayloadCodec(keys: readonly EncryptionKey[]): PayloadCodec {
  const cipher = createCipher(keys);

  function encode(payload: Payload): Payload {
    const sealed = cipher.seal(PayloadMessage.encode(payload).finish(), owner);
    if (sealed === null) return payload;
    return {
      metadata: {
        encoding: text.encode(sealedEncoding),
        'encryption-cipher': text.encode('AES-256-GCM'),
        'encryption-key-id': text.encode(sealed.keyId),
      },
      data: sealed.bytes,
    };
  }

  function decode(payload: Payload): Payload {
    const keyId = payloadKeyOf(payload);
    if (keyId === null) return payload;
    return PayloadMessage.decode(cipher.open({ keyId, bytes: payload.data ?? new Uint8Array() }, owner));
  }

  return {
    encode: async (payloads) => payloads.map(encode),
    decode: async (payloads) => payloads.map(decode),
  };
}

/** Returns the id of the key that a payload is sealed under, or null if it is not sealed. */
export function payloadKeyOf({ metadata }: Payload): string | null {
  if (textOf(metadata?.['encoding']) !== sealedEncoding) return null;
  return textOf(metadata?.['encryption-key-id']);
}

function textOf(bytes: Uint8Array | undefined | null): string {
  return Buffer.from(bytes ?? []).toString();
}
