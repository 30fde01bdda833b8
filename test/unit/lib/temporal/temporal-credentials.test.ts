import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTemporalCredentials, readTemporalSettings } from '../../../../lib/temporal/temporal-credentials.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const folder = temporaryDirectory();
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe('the connection to Temporal', () => {
  it('is a plain address unless something else is set', () => {
    const settings = readTemporalSettings({ TEMPORAL_API_KEY: ' ' });
    expect(settings).toMatchObject({ address: '127.0.0.1:7233', namespace: 'default', isTls: false });
    expect(readTemporalCredentials(settings)).toEqual({ tls: false, apiKey: undefined });
  });

  it('uses TLS with an API key, which may be in a file', () => {
    for (const env of [{ TEMPORAL_API_KEY: 'k' }, { TEMPORAL_API_KEY_PATH: file('api-key', 'k\n') }])
      expect(readTemporalCredentials(readTemporalSettings(env))).toEqual({ tls: {}, apiKey: 'k' });
    const named = readTemporalSettings({ TEMPORAL_TLS: 'true', TEMPORAL_TLS_SERVER_NAME: 'temporal.test' });
    expect(readTemporalCredentials(named)).toEqual({ tls: { serverNameOverride: 'temporal.test' }, apiKey: undefined });
  });

  it.each<[NodeJS.ProcessEnv, string]>([
    [{ TEMPORAL_TLS: 'yes' }, 'TEMPORAL_TLS must be true or false.'],
    [{ TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'k' }, 'TEMPORAL_TLS is false, but'],
    [{ TEMPORAL_API_KEY: 'k', TEMPORAL_API_KEY_PATH: '/k' }, 'exclude each other'],
    [{ TEMPORAL_TLS_CLIENT_CERT_PATH: '/c' }, 'set both'],
    [{ TEMPORAL_API_KEY_PATH: '/nowhere/key' }, 'TEMPORAL_API_KEY_PATH must name a file that can be read.'],
    [{ TEMPORAL_API_KEY: 'two words' }, 'TEMPORAL_API_KEY must contain one word'],
    [
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('ca', 'none') },
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH and its key must name',
    ],
  ])('says in a sentence what is wrong with %j', (env, sentence) => {
    expect(() => readTemporalCredentials(readTemporalSettings(env))).toThrow(sentence);
  });
});
