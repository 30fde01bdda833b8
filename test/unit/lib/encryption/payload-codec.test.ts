import { defaultPayloadConverter } from '@temporalio/common';
import { expect, it } from 'vitest';
import { createPayloadCodec, payloadKeyOf } from '../../../../lib/encryption/payload-codec.ts';
import { testKeys } from '../../../support/database/encryption.ts';

const plain = defaultPayloadConverter.toPayload({ jobId: 'job_1' });

it('encrypts a payload with its metadata under the first key, and decrypts with any of the keys', async () => {
  const [sealed] = await createPayloadCodec(testKeys('k1')).encode([plain]);
  expect(payloadKeyOf(sealed!)).toBe('k1');
  expect(Buffer.from(sealed!.data!).includes('job_1')).toBe(false);
  const [opened] = await createPayloadCodec(testKeys('k2', 'k1')).decode([sealed!]);
  expect(defaultPayloadConverter.fromPayload(opened!)).toEqual({ jobId: 'job_1' });
});

it('passes on unencrypted payloads, and encrypts none without keys', async () => {
  expect(await createPayloadCodec(testKeys('k1')).decode([plain])).toEqual([plain]);
  expect(await createPayloadCodec([]).encode([plain])).toEqual([plain]);
  expect(payloadKeyOf(plain)).toBeNull();
});

it('names the key of a payload that it cannot decrypt', async () => {
  const sealed = await createPayloadCodec(testKeys('k1')).encode([plain]);
  await expect(createPayloadCodec([]).decode(sealed)).rejects.toThrow('The encryption key k1 is missing');
});
