import { existsSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import { testLimits } from '../../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { runFailpointsChaos } from '../../suites/chaos/failpoints.ts';
import { runMixedChaos } from '../../suites/chaos/mixed.ts';
import { runNetworkChaos } from '../../suites/chaos/network.ts';
import { runToolsChaos } from '../../suites/chaos/tools.ts';
import { problemWithNetworks } from '../../suites/chaos/servers/own-network.ts';

const options = { timeout: 600_000 };
const problem = await problemWithNetworks();
const podman = await openSandbox({ directory: temporaryDirectory(), engine: 'podman', limits: testLimits });

afterEach(() => void vi.unstubAllEnvs());

it('nothing is lost or duplicated while processes are killed', options, async () => {
  expect(await runMixedChaos(['--jobs', '6', '--kills', '4', '--halts', '0', '--seed', '8'])).toBe(0);
});

it('a job ends with the same tree wherever its worker or its connections fail', options, async () => {
  expect(await runFailpointsChaos(['--runs', '4', '--lanes', '2', '--seed', '8'])).toBe(0);
});

it('a worker that is killed while an MCP server runs as a command leaves nothing of it', options, async () => {
  expect(await runToolsChaos(['--jobs', '3', '--kills', '3', '--seed', '8'])).toBe(0);
});

it.skipIf(!existsSync('/usr/bin/dpkg')).each(podman.problem === null ? ['bubblewrap', 'podman'] : ['bubblewrap'])(
  'a worker that is killed while commands, servers and setups run in an image repeats nothing (%s)',
  options,
  async (engine) => {
    vi.stubEnv('DOCKET_SANDBOX', engine);
    // as many as there are kinds, or more, so that one has a setup
    expect(await runToolsChaos(['--jobs', '6', '--kills', '3', '--seed', '8'], { isInImage: true })).toBe(0);
  },
);

it.skipIf(problem !== null)('a worker that is cut off repeats nothing', options, async () => {
  expect(await runNetworkChaos(['--cuts', '4', '--jobs', '3', '--seed', '8'])).toBe(0);
});
