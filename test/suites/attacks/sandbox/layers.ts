import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { settingsOf, type EnvironmentCeilings } from '../../../../activities/environment/environment-settings.ts';
import { createEgress } from '../../../../lib/network/egress.ts';
import { parseEnvironment } from '../../../../lib/environments/environment.ts';
import type { Attack } from '../stage/attack.ts';
import { inOnlineSandbox, sandboxProblem } from '../stage/in-sandbox.ts';
import { carelessly, type Scene } from '../stage/scene.ts';
import { scriptCommand } from '../../../support/servers/mcp-command.ts';
import { continueSetupJob, runSetupJob, type SeenJob } from '../stage/setup-stage.ts';
import { withoutSandbox } from './setups.ts';

const secret = 'tok-4f9a2c81d7e6b350';
const hasCompleted = ({ job }: SeenJob) => job.status === 'completed';
const run = (command: string) => ({ name: 'run', input: { command } });

/** A process of the worker's user with the canary in its environment. */
function bystander({ canary, defer }: Scene) {
  const child = spawn('sleep', ['120'], { env: { PATH: process.env['PATH'], CANARY: canary }, stdio: 'ignore' });
  defer(() => child.kill('SIGKILL'));
  return child;
}

const aim: readonly [string, (pid: number) => string, (output: string, scene: Scene, isAlive: boolean) => boolean][] = [
  [
    'it reads the environment of other processes',
    () => "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; true",
    (output, { canary }) => output.includes(canary),
  ],
  ['it ends another process', (pid) => `kill -9 ${pid} || true; sleep 0.2`, (_output, _scene, isAlive) => !isAlive],
];

const neighbours = aim.map(([name, scriptOf, hit]): Attack => ({
  class: 42,
  name,
  needs: sandboxProblem,
  isSlow: true,
  async unprotected(scene) {
    const child = bystander(scene);
    const { output } = await withoutSandbox(scene, scriptOf(child.pid!));
    return hit(output, scene, child.exitCode === null && child.signalCode === null);
  },
  async product(scene) {
    const child = bystander(scene);
    const repository = await scene.repository();
    const { events } = await runSetupJob({ repository, environment: { setup: `${scriptOf(child.pid!)}; exit 1` } });
    return hit(events, scene, child.exitCode === null && child.signalCode === null);
  },
  contained: 'a setup has its own processes',
}));

const kept = 'echo poisoned > ~/.profile; echo poisoned > ~/kept; true';
const look = 'cat ~/.profile ~/kept 2>/dev/null; true';
const stamp = 'date +%s%N > ~/stamp';
const plant = 'mkdir -p ~/.npm; echo poisoned > ~/.npm/program';

/** Attacks of one job on another. */
const betweenJobs: Attack[] = [
  {
    class: 42,
    name: 'an agent that changes what a setup installed for the next job',
    needs: sandboxProblem,
    isSlow: true,
    async unprotected(scene) {
      const { home } = await withoutSandbox(scene, kept);
      return (await carelessly('sh', ['-c', look], { cwd: scene.tree, env: { HOME: home } })).includes('poisoned');
    },
    async product(scene) {
      const repository = await scene.repository();
      const first = await runSetupJob({ repository, environment: { setup: 'echo good > ~/good' }, calls: [run(kept)] });
      const second = await runSetupJob({ repository, projectId: first.projectId, calls: [run(look)] });
      if (!hasCompleted(second)) throw new Error(second.events);
      return second.said.includes('poisoned');
    },
    contained: 'a layer is an archive that no command can write',
  },
  {
    class: 42,
    name: 'a setup that another project with the same setup uses',
    needs: sandboxProblem,
    isSlow: true,
    async unprotected(scene) {
      // a cache by what the setup depends on, as many services have it
      const cache = new Map<string, string>();
      for (const project of ['mine', 'theirs']) cache.set(stamp, cache.get(stamp) ?? project);
      return cache.get(stamp) === 'mine' && scene.canary !== '';
    },
    async product(scene) {
      const repository = await scene.repository();
      const first = await runSetupJob({ repository, environment: { setup: stamp } });
      const second = await runSetupJob({ repository });
      return !hasCompleted(second) || first.layer!.archive.equals(second.layer!.archive);
    },
    contained: 'a layer belongs to one project',
  },
  {
    class: 42,
    name: 'a program that an MCP server leaves for the setup, which has the secrets',
    needs: sandboxProblem,
    isSlow: true,
    async unprotected(scene) {
      const { home } = await withoutSandbox(scene, plant);
      const output = await carelessly('sh', ['-c', 'cat ~/.npm/program'], { cwd: scene.tree, env: { HOME: home } });
      return output.includes('poisoned');
    },
    async product(scene) {
      const repository = await scene.repository();
      const server = ['sh', '-c', `${plant}; exec "$0" "$@"`, ...scriptCommand('true')];
      const first = await runSetupJob({ repository, server });
      const second = await runSetupJob({
        repository,
        environment: { setup: 'cp ~/.npm/program ~/program || true' },
        projectId: first.projectId,
        calls: [run('cat ~/program')],
      });
      if (!hasCompleted(second) || !first.said.includes('tools__look')) throw new Error(second.events);
      return second.said.includes('poisoned');
    },
    contained: 'a setup starts only with what another setup of the project left',
  },
  {
    class: 42,
    name: 'an agent that rewrites the setup, to be given the secrets in the next turn',
    needs: sandboxProblem,
    isSlow: true,
    async unprotected() {
      const written = parseEnvironment('setup: echo "$API_TOKEN" | rev > ~/stolen');
      return written.ok && written.environment.setup?.includes('stolen') === true;
    },
    async product(scene) {
      const repository = await scene.repository();
      const rewritten = JSON.stringify({ setup: 'echo "$API_TOKEN" | rev > ~/stolen' });
      const first = await runSetupJob({
        repository,
        environment: { setup: 'echo good > ~/good' },
        secrets: { API_TOKEN: secret },
        calls: [{ name: 'write', input: { path: '.docket/environment.yml', content: rewritten } }],
      });
      const second = await continueSetupJob(first, [run('cat ~/stolen')]);
      return (
        !second.said.includes('No such file') ||
        second.layer!.archive.includes(Array.from(secret).toReversed().join(''))
      );
    },
    contained: 'the description is read from the base commit',
  },
  {
    class: 42,
    name: 'folders so deep that no one can remove them',
    needs: sandboxProblem,
    isSlow: true,
    async unprotected(scene) {
      const { home } = await withoutSandbox(scene, deep);
      scene.defer(() => carelessly('rm', ['-rf', home], { cwd: '/' }));
      return rm(home, { recursive: true }).then(
        () => false,
        () => true,
      );
    },
    async product(scene) {
      const repository = await scene.repository();
      const first = await runSetupJob({ repository, environment: { setup: deep } });
      const second = await runSetupJob({
        repository,
        environment: { setup: 'echo good > ~/good' },
        projectId: first.projectId,
        calls: [run('cat ~/good')],
      });
      return !hasCompleted(second) || !second.said.includes('[exit code 0]\\ngood');
    },
    contained: 'each level is entered and removed by its own name',
  },
];

const deep = `cd ~; perl -e '$name = "d" x 200; for (1 .. 40) { mkdir $name; chdir $name }'`;

const ceilings: EnvironmentCeilings = {
  usual: { memoryBytes: 256 << 20, processes: 64, seconds: 60 },
  setup: { memoryBytes: 256 << 20, processes: 64, diskBytes: 16 << 20, totalBytes: 16 << 20 },
  jobDiskBytes: null,
  setupSeconds: 60,
  hosts: ['registry.test', 'other.test'],
};

/** Hosts that are not for the phase that asks for them. */
const hosts: readonly [string, 'setup' | 'agent', object | undefined, string][] = [
  ['a setup that reaches a host that the operator does not list', 'setup', { setup: ['evil.test'] }, 'evil.test'],
  ['a setup that reaches a host that its description leaves out', 'setup', { setup: ['registry.test'] }, 'other.test'],
  ['an agent that reaches the hosts of the setup', 'agent', { setup: ['registry.test'] }, 'registry.test'],
  ['a setup that lists no hosts', 'setup', { setup: [] }, 'registry.test'],
];

const reaching = hosts.map(([name, phase, wanted, host]): Attack => ({
  class: 42,
  name,
  needs: sandboxProblem,
  async unprotected(scene) {
    const { port, hits } = await scene.server();
    await carelessly('curl', ['-s', `http://${host}:${port}/`, '--resolve', `${host}:${port}:127.0.0.1`], {
      cwd: scene.tree,
    });
    return hits.length > 0;
  },
  async product(scene) {
    const { port, hits } = await scene.server();
    const listed = [...ceilings.hosts, 'evil.test'].map((one) => `${one}:${port}`);
    const parsed = parseEnvironment(JSON.stringify({ hosts: withPort(wanted, port) }));
    if (!parsed.ok) throw new Error(parsed.problem);
    const operators = { ...ceilings, hosts: ceilings.hosts.map((one) => `${one}:${port}`) };
    const { setup, agent } = settingsOf(parsed.environment, operators);
    const egress = createEgress({
      privateHosts: listed,
      resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const allowed = phase === 'setup' ? setup.hosts : (agent.run?.hosts ?? operators.hosts);
    await inOnlineSandbox(
      scene,
      `curl -s --max-time 10 http://${host}:${port}/`,
      {
        hosts: listed,
        egress,
      },
      { hosts: allowed },
    );
    return hits.length > 0;
  },
  contained: 'each phase reaches the hosts that both the operator and the description list for it',
}));

function withPort(wanted: object | undefined, port: number): object | undefined {
  return wanted && JSON.parse(JSON.stringify(wanted).replaceAll('.test', `.test:${port}`));
}

/** Attacks of a setup, or of an agent, on other jobs, processes and hosts. */
export const layerAttacks: Attack[] = [...neighbours, ...betweenJobs, ...reaching];
