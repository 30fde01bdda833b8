import type { Client } from '@temporalio/client';
import type { EncryptionKey } from '../../lib/encryption/keys.ts';
import { lazily } from '../../lib/lazily.ts';
import {
  openTemporalCredentials,
  type TemporalCredentialOptions,
  type TemporalSettings,
} from '../../lib/temporal/temporal-credentials.ts';
import type { JobLimits } from '../../workflows/contract/job.ts';
import type { StartJob } from './job-starter.ts';

export interface JobExecutionOptions extends TemporalCredentialOptions {
  settings: TemporalSettings;
  /** Keys that encrypt payloads. */
  encryptionKeys: readonly EncryptionKey[];
  limits: JobLimits;
  instrument(client: Client): Client;
}

/** Calls of the API to Temporal. */
export interface JobExecutions extends AsyncDisposable {
  start: StartJob;
  cancel: StartJob;
}

/**
 * Opens the way to Temporal. The credentials are read now, and Temporal's SDK is loaded for the first start or
 * cancellation, because an API that gets neither should not hold it. Throws ConfigError.
 */
export function openJobExecutions({
  settings,
  encryptionKeys,
  limits,
  ...options
}: JobExecutionOptions): JobExecutions {
  const resources = new AsyncDisposableStack();
  const credentials = resources.use(openTemporalCredentials(settings, options));
  const open = lazily(async () => {
    const [{ createTemporalClient }, { createJobStarter }, { createJobCanceller }] = await Promise.all([
      import('../temporal.ts'),
      import('./job-starter.ts'),
      import('./job-canceller.ts'),
    ]);
    const temporal = resources.use(createTemporalClient({ settings, credentials, encryptionKeys }));
    const client = options.instrument(temporal.client);
    return { start: createJobStarter({ client, limits }), cancel: createJobCanceller({ client }) };
  });
  return {
    start: async (entry) => (await open()).start(entry),
    cancel: async (entry) => (await open()).cancel(entry),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
