import type { Payload } from '@temporalio/common';
import type { EncryptionKey } from './keys.ts';
import { createPayloadCodec, payloadKeyOf } from './payload-codec.ts';

interface Failure {
  message?: string | null;
  stackTrace?: string | null;
  encodedAttributes?: Payload | null;
}

/**
 * Decrypts every payload of a Temporal history in place, and moves failure messages back to where a history without
 * encryption has them. The result can be read without a key. Throws SealedError.
 */
export async function openHistory<History extends object>(
  history: History,
  keys: readonly EncryptionKey[],
): Promise<History> {
  const codec = createPayloadCodec(keys);
  for (const payload of payloadsIn(history)) {
    if (payloadKeyOf(payload) === null) continue;
    const [opened] = await codec.decode([payload]);
    payload.metadata = opened?.metadata;
    payload.data = opened?.data;
  }
  for (const part of objectsIn(history)) if (isFailure(part)) showFailure(part);
  return history;
}

/**
 * Returns the ids of the keys that the payloads of a message or a history are sealed under; null for unsealed payloads.
 */
export function keysOfPayloads(message: object): Set<string | null> {
  return new Set([...payloadsIn(message)].map(payloadKeyOf));
}

function* payloadsIn(history: object): Generator<Payload> {
  for (const part of objectsIn(history)) if (isPayload(part)) yield part;
}

function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  yield value;
  if (isPayload(value)) return;
  for (const part of Object.values(value)) yield* objectsIn(part);
}

/** Only payloads have both metadata and data. */
function isPayload(part: object): part is Payload {
  return 'metadata' in part && 'data' in part && part.data instanceof Uint8Array;
}

function isFailure(part: object): part is Failure {
  return 'encodedAttributes' in part && typeof part.encodedAttributes === 'object' && part.encodedAttributes !== null;
}

function showFailure(failure: Failure): void {
  const attributes: unknown = JSON.parse(Buffer.from(failure.encodedAttributes?.data ?? []).toString() || 'null');
  if (typeof attributes !== 'object' || attributes === null) return;
  if ('message' in attributes && typeof attributes.message === 'string') failure.message = attributes.message;
  if ('stack_trace' in attributes && typeof attributes.stack_trace === 'string') {
    failure.stackTrace = attributes.stack_trace;
  }
  failure.encodedAttributes = null;
}
