import './lib/check-node.cjs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { compiledCode } from './test/support/compiled-code.ts';
import { patienceMs } from './test/support/patience.ts';

const servers = ['test/support/stack/global-stack.ts'];
// Node runs the files as it runs the product: nothing is transformed
const native = { viteModuleRunner: false, nodeLoader: false };
/** The processes that tests start keep what they have compiled; a stack looks after that itself. */
const compiled = { NODE_COMPILE_CACHE: compiledCode };
const patience = { testTimeout: 240_000, hookTimeout: 300_000, expect: { poll: { timeout: patienceMs } } };
const project = (name: string, settings: Record<string, unknown> = {}, folder = name) => ({
  test: {
    name,
    include: [`test/${folder}/**/*.test.ts`],
    experimental: native,
    env: compiled,
    ...patience,
    ...settings,
  },
});
const stacks = { globalSetup: servers, env: {} };
const smoke = 'test/e2e/smoke.test.ts';
const dashboard = 'test/unit/dashboard/**/*.test.ts';
/** They end processes or fill disks at set moments, which a neighbor would move, or use all of the machine. */
const endToEndAlone = [
  'demo',
  'docs-commands',
  'faults/chaos-short',
  'faults/crash',
  'faults/full-disk',
  'faults/reply-faults',
  'fuzz-short',
  'leaks-short',
  'repositories',
  'start',
].map((name) => `test/e2e/${name}.test.ts`);
/** They measure how long their own process blocks its event loop, which the memory of other files prolongs. */
const alone = [
  'api/gaps',
  'api/jobs/large-answers',
  'assistant/large-questions',
  'clients/hostile-servers',
  'models/event-loop',
  'sites/bounds',
  'workspaces/file-tools-hold',
  'workspaces/listings-hold',
].map((name) => `test/integration/${name}.test.ts`);
const integration = { globalSetup: servers };
/** The tests of the sandbox, which run a second time in containers of podman. */
const sandbox = [
  'test/integration/sandbox/**/*.test.ts',
  'test/integration/mcp-client/command-servers.test.ts',
  'test/suites/attacks/sandbox/**/*.test.ts',
];
/** About bubblewrap alone, or the same for both. Commands in images run in containers in the attacks and with packages. */
const bubblewrap = ['image', 'open-sandbox', 'own-folder', 'proxy-limits', 'tls'].map(
  (name) => `test/integration/sandbox/${name}.test.ts`,
);

export default defineConfig({
  test: {
    globalSetup: ['test/support/temporary-directory.ts', 'test/support/compiled-code.ts'],
    // tests wait for servers, processes and timers, too, so that two processors have time for three;
    // a percentage would be limited to their number
    maxWorkers: Math.max(3, availableParallelism()),
    // `npm test` leaves both out
    tags: [
      { name: 'slow', description: 'Takes seconds; required above five on a quiet machine.' },
      { name: 'control', description: 'Proves that an attack reaches its goal where nothing defends it.' },
    ],
    projects: [
      // without isolation, files share what a worker has imported: that took a third of their time
      project('unit', { isolate: false, exclude: [dashboard] }),
      // Node cannot read JSX
      project('unit-dashboard', {
        isolate: false,
        include: [dashboard],
        setupFiles: ['test/support/browser/browser-globals.ts'],
        experimental: {},
      }),
      project('replay', { isolate: false }),
      project('integration', { ...integration, isolate: false, exclude: alone }),
      project('integration-alone', { ...integration, include: alone }),
      project('attacks', { globalSetup: servers, isolate: false }, 'suites/attacks'),
      project('podman', {
        ...integration,
        isolate: false,
        include: sandbox,
        exclude: bubblewrap,
        env: { ...compiled, DOCKET_TEST_ENGINE: 'podman' },
      }),
      project('smoke', { ...stacks, include: [smoke] }),
      // files drive a stack and often a browser, which wait for each other
      project('e2e', {
        globalSetup: [...servers, 'test/support/stack/dashboard-stack.ts'],
        env: {},
        exclude: [smoke, ...endToEndAlone],
        maxWorkers: 2,
        sequence: { groupOrder: 1 },
      }),
      project('e2e-alone', { ...stacks, include: endToEndAlone, fileParallelism: false }),
    ],
  },
});
