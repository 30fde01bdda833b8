import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { createTemporalClient } from '../../../../api/temporal.ts';
import { openTemporalCredentials, readTemporalSettings } from '../../../../lib/temporal/temporal-credentials.ts';
import { findTemporalBinary } from '../../../../local/temporal/temporal-binary.ts';
import { startTemporal, untilTemporalAnswers } from '../../../../local/temporal/temporal.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

it('keeps the data of a Temporal server in its folder, whatever characters the path has', async () => {
  const binary = await findTemporalBinary({ env: process.env, log: () => {} });
  const parent = temporaryDirectory();
  const directory = join(parent, "it's #1 100%25?é");
  await mkdir(directory);
  await using _server = await startTemporal(
    { binary, directory, isHeadless: true, isDurable: false },
    { log: () => {} },
  );
  expect((await readdir(directory)).filter((name) => name.endsWith('.db'))).toHaveLength(1);
  expect(await readdir(parent)).toHaveLength(1);
});

it('connects to Temporal directly, although the environment names a proxy', async () => {
  for (const name of ['http_proxy', 'https_proxy']) vi.stubEnv(name, 'http://127.0.0.1:9');
  onTestFinished(() => void vi.unstubAllEnvs());
  const settings = readTemporalSettings({ TEMPORAL_ADDRESS: inject('temporalAddress') });
  await untilTemporalAnswers(settings, AbortSignal.timeout(2_000));
  const credentials = openTemporalCredentials(settings, { onFailure: () => {} });
  await using api = createTemporalClient({ settings, credentials, encryptionKeys: [] });
  await api.client.connection.withDeadline(Date.now() + 2_000, () => api.client.workflowService.getSystemInfo({}));
});
