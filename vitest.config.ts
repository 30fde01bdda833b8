import './lib/check-node.cjs';
import { defineConfig } from 'vitest/config';

const servers = ['test/support/global-stack.ts'];
const project = (name: string, settings: Record<string, unknown> = {}, folder = name) => ({
  test: { name, include: [`test/${folder}/**/*.test.ts`], ...settings },
});
const stacks = { globalSetup: servers, testTimeout: 180_000, hookTimeout: 300_000 };
const smoke = 'test/e2e/smoke.test.ts';

export default defineConfig({
  test: {
    maxWorkers: '100%',
    // `npm test` leaves both out
    tags: [
      { name: 'slow', description: 'Takes over five seconds on a quiet machine.' },
      { name: 'control', description: 'Proves that an attack reaches its goal where nothing defends it.' },
    ],
    projects: [
      // files of a worker share what they import: half of their time went into that
      project('unit', { isolate: false, testTimeout: 30_000 }),
      project('replay', { isolate: false, testTimeout: 60_000 }),
      project('integration', { globalSetup: servers, testTimeout: 60_000, hookTimeout: 120_000 }),
      project('attacks', { globalSetup: servers, testTimeout: 120_000, hookTimeout: 120_000 }, 'suites/attacks'),
      project('smoke', { ...stacks, include: [smoke] }),
      project('e2e', { ...stacks, exclude: [smoke], fileParallelism: false }),
    ],
  },
});
