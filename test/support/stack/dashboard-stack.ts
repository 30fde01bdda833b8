import { createServer } from 'node:http';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { testPepper } from '../database/build.ts';
import { createTestDatabase } from '../database/database.ts';
import { listening } from '../servers/listening.ts';
import { startModelRelay } from '../servers/model-relay.ts';
import { startTestStack, type TestStack } from './stack.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Answers with the `local.json` of the stack once it runs. */
    dashboardStackUrl: string;
  }
}

/** Starts one stack for all test files of the dashboard, on the servers of the run, when the first file asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = project.vitest.getRootProject().getProvidedContext();
  const started = new AsyncDisposableStack();
  let stack: Promise<TestStack> | null = null;
  const server = createServer((_request, response) => {
    stack ??= startSharedStack(started, servers);
    stack.then(
      ({ localJson }) => response.end(JSON.stringify(localJson)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const { port } = started.use(await listening(server));
  project.provide('dashboardStackUrl', `http://127.0.0.1:${port}/`);
  return () => started.disposeAsync();
}

async function startSharedStack(
  started: AsyncDisposableStack,
  { databaseUrl, temporalAddress }: ProvidedContext,
): Promise<TestStack> {
  const database = started.use(await createTestDatabase(databaseUrl));
  const relay = started.use(await startModelRelay());
  const env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress,
    DOCKET_KEY_PEPPER: testPepper,
    DOCKET_MODEL_PRICES: JSON.stringify({ 'offline/editor': { images: true } }),
    DOCKET_SELF_REVIEW: 'off',
    DOCKET_WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    OPENAI_COMPATIBLE_BASE_URL: relay.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
  };
  return started.use(await startTestStack({ env }));
}
