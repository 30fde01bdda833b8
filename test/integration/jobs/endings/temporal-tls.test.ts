import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, inject, it } from 'vitest';
import { createTemporalClient } from '../../../../api/temporal.ts';
import { openTemporalCredentials, readTemporalSettings } from '../../../../lib/temporal/temporal-credentials.ts';
import { createWorker, jobQueue } from '../../../../worker/create-worker.ts';
import { runWorkers } from '../../../../worker/run-workers.ts';
import { prepareWorkflowBundle } from '../../../../worker/workflow-bundle.ts';
import { startSecuredTemporal } from '../../../support/servers/secured-temporal.ts';
import { createTestAuthority, hasOpenssl, type Certificate } from '../../../support/servers/test-authority.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const log = pino({ level: 'silent' });
const lookMs = 50;

describe.runIf(hasOpenssl)('a Temporal server that demands TLS, a client certificate and an API key', () => {
  it('is used by the API and the worker, even after each credential was rotated', { tags: 'slow' }, async () => {
    await using resources = new AsyncDisposableStack();
    const folder = temporaryDirectory();
    const [servers, clients, later] = await Promise.all([0, 1, 2].map(() => createTestAuthority()));
    const [server, first, second] = await Promise.all([
      servers!.issue('temporal.test'),
      clients!.issue('docket.test'),
      later!.issue('docket.test'),
    ]);
    const secured = resources.use(
      await startSecuredTemporal(inject('temporalAddress'), server, {
        clientAuthority: clients!.certificate,
        apiKey: 'first-key',
      }),
    );
    const at = (name: string) => join(folder, name);
    await writeFile(at('ca'), servers!.certificate);
    const write = async ({ cert, key }: Certificate, apiKey: string) => {
      await writeFile(at('api-key'), `${apiKey}\n`);
      await writeFile(at('cert'), cert);
      await writeFile(at('key'), key);
    };
    await write(first, 'first-key');
    const settings = readTemporalSettings({
      TEMPORAL_ADDRESS: secured.address,
      TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: at('ca'),
      TEMPORAL_TLS_CLIENT_CERT_PATH: at('cert'),
      TEMPORAL_TLS_CLIENT_KEY_PATH: at('key'),
      TEMPORAL_API_KEY_PATH: at('api-key'),
    });

    const failures: unknown[] = [];
    const watch = { everyMs: lookMs, onFailure: (error: unknown) => void failures.push(error) };
    const credentials = resources.use(openTemporalCredentials(settings, watch));
    const { client } = resources.use(createTemporalClient({ settings, credentials, encryptionKeys: [] }));
    const taskQueue = `tls-${randomUUID()}`;
    const stopping = new AbortController();
    const ready = Promise.withResolvers<void>();
    const bundle = await prepareWorkflowBundle();
    const queue = jobQueue(
      { archiveIdleJobs: ({ idleDays }: { idleDays: number }) => Promise.resolve(idleDays) },
      taskQueue,
    );
    const running = runWorkers({
      address: settings.address,
      credentials,
      createWorker: [
        (connection) => createWorker({ connection, namespace: 'default', bundle, queue, shutdownGraceMs: 0 }),
      ],
      onWorkers: (workers) => void (workers.length > 0 && ready.resolve()),
      log,
      signal: stopping.signal,
    });
    resources.defer(() => (stopping.abort(), running));
    await ready.promise;
    const archive = (idleDays: number, withinMs: number) =>
      client.withDeadline(Date.now() + withinMs, () =>
        client.workflow.execute('archiveJobs', {
          taskQueue,
          workflowId: randomUUID(),
          args: [{ idleDays }],
        }),
      );
    expect(await archive(3, 60_000)).toBe(3);

    // first refused, then given the new credentials: the harder order
    secured.rotate({ clientAuthority: later!.certificate, apiKey: 'second-key' });
    await expect.poll(() => secured.refused.length).toBeGreaterThan(0);
    await write(second, 'second-key');
    await expect.poll(() => archive(4, 10_000).catch(String)).toBe(4);

    // the controls: without the certificate, or with the old key, access is refused
    for (const [wrong, reason] of [
      [{ ...settings, files: { ...settings.files, certificate: null, key: null } }, /certificate/],
      [{ ...settings, files: { ...settings.files, apiKey: null }, apiKey: 'first-key' }, /api key/],
    ] as const) {
      secured.refused.length = 0;
      using wrongCredentials = openTemporalCredentials(wrong, watch);
      const identity = { settings: wrong, credentials: wrongCredentials, encryptionKeys: [] };
      await using stranger = createTemporalClient(identity);
      const refused = stranger.client;
      const ask = async () => {
        const asked = refused.withDeadline(Date.now() + 3_000, () => refused.workflow.getHandle('x').describe());
        await expect(asked).rejects.toThrow(Error);
        return secured.refused.join();
      };
      // the deadline may pass before a connection is even refused
      await expect.poll(ask).toMatch(reason);
    }
  });
});
