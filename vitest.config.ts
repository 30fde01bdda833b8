import { defineConfig } from 'vitest/config';

const project = (name: string, settings: Record<string, unknown> = {}, folder = name) => ({
  test: { name, include: [`test/${folder}/**/*.test.ts`], ...settings },
});

export default defineConfig({
  test: {
    projects: [
      project('unit', { testTimeout: 30_000 }),
      project('replay', { testTimeout: 60_000 }),
      project('integration', {
        globalSetup: ['test/support/global-stack.ts'],
        testTimeout: 60_000,
        hookTimeout: 120_000,
      }),
      project(
        'attacks',
        {
          globalSetup: ['test/support/global-stack.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
        'suites/attacks',
      ),
      project('e2e', {
        globalSetup: ['test/support/global-stack.ts'],
        testTimeout: 180_000,
        hookTimeout: 300_000,
        fileParallelism: false,
      }),
    ],
  },
});
