import { expect, it } from 'vitest';
import { settingsOf, type EnvironmentCeilings } from '../../../../activities/environment/environment-settings.ts';

const ceilings: EnvironmentCeilings = {
  usual: { memoryBytes: 2 ** 31, processes: 256, seconds: 120 },
  setup: { memoryBytes: 2 ** 32, processes: 1_024, diskBytes: 10 * 2 ** 30, totalBytes: 10 * 2 ** 30 },
  setupSeconds: 600,
  hosts: ['registry.test', 'other.test:8443'],
  jobDiskBytes: null,
};

it("has the operator's settings if the project has none", () => {
  const { setup, agent, notices } = settingsOf({}, ceilings);
  expect(setup).toEqual({ path: [], hosts: ceilings.hosts, limits: ceilings.setup, seconds: 600 });
  expect(agent.run).toEqual({ maxSeconds: 120, hosts: ceilings.hosts });
  expect(agent.limits).toEqual({ ...ceilings.setup, memoryBytes: 2 ** 31, processes: 256 });
  expect(notices).toEqual([]);
});

it('never exceeds the ceilings of the operator, and says what it lowered', () => {
  const limits = { memoryMb: 8_192, processes: 5_000, diskGb: 50, seconds: 480, setupSeconds: 1_000 };
  const { setup, agent, notices } = settingsOf({ limits }, ceilings);
  expect(setup).toMatchObject({ limits: ceilings.setup, seconds: 600 });
  expect(agent).toMatchObject({ limits: ceilings.setup, run: { maxSeconds: 480 } });
  expect(notices).toHaveLength(4);
  expect(notices[0]).toBe('limits.memoryMb of the environment is lowered to 4096, the most that the worker allows.');
});

it('adds no more than the disk of a job has room for, and says so where the project wants more', () => {
  const onDisks = { ...ceilings, jobDiskBytes: 2 ** 30 };
  const limitsOf = (diskGb?: number) => settingsOf(diskGb === undefined ? {} : { limits: { diskGb } }, onDisks);
  expect(limitsOf().agent.limits).toMatchObject({ diskBytes: 2 ** 30, totalBytes: 10 * 2 ** 30 });
  expect(limitsOf().notices).toEqual([]);
  expect(limitsOf(0.5).setup.limits).toMatchObject({ diskBytes: 2 ** 29, totalBytes: 2 ** 29 });
  expect(limitsOf(0.5).notices).toEqual([]);
  const { setup, notices } = limitsOf(5);
  expect(setup.limits).toMatchObject({ diskBytes: 2 ** 30, totalBytes: 5 * 2 ** 30 });
  expect(notices).toEqual([
    'limits.diskGb of the environment is 5, but the disk of a job has room for 1024 MB besides the repository (DOCKET_JOB_DISK_MB of the worker).',
  ]);
});

it('takes fewer processors than the worker allows, never more', () => {
  const cpusOf = (wanted: number | undefined, most: number | undefined) => {
    const { setup, agent, notices } = settingsOf(
      { limits: { cpus: wanted } },
      { ...ceilings, setup: { ...ceilings.setup, cpus: most } },
    );
    expect(setup.limits.cpus).toBe(agent.limits?.cpus);
    return [agent.limits?.cpus, notices.length];
  };
  expect(cpusOf(undefined, 4)).toEqual([4, 0]);
  expect(cpusOf(2, 4)).toEqual([2, 0]);
  expect(cpusOf(8, 4)).toEqual([4, 1]);
  expect(cpusOf(8, undefined)).toEqual([8, 0]);
  expect(cpusOf(undefined, undefined)).toEqual([undefined, 0]);
});

it('reaches hosts of the operator only, and the agent none that are not named for it', () => {
  const hosts = { setup: ['registry.test', 'elsewhere.test', 'other.test'] };
  const { setup, agent, notices } = settingsOf({ hosts }, ceilings);
  expect(setup.hosts).toEqual(['registry.test']);
  expect(agent.run?.hosts).toEqual([]);
  expect(notices).toEqual([
    'Commands cannot reach elsewhere.test, other.test: DOCKET_RUN_HOSTS of the worker does not list it.',
  ]);
});
