import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';

const checkout = resolve(import.meta.dirname, '../../..');
const execute = promisify(execFile);
const maxBuffer = 256 * 1024 * 1024;

const serviceSchema = z.object({
  image: z.string(),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  entrypoint: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).default({}),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  security_opt: z.array(z.string()).default([]),
  restart: z.string().default('no'),
  stop_grace_period: z.string().default('10s'),
});
type Service = z.infer<typeof serviceSchema>;

/** Interpolates a text as Compose does: `${A}`, `${A:-b}`, `${A:?}`, `${A:+b}`, `$$`. */
export function interpolate(text: string, env: Record<string, string>): string {
  return text.replaceAll(/\$\$|\$\{(\w+)(?::([-?+])([^}]*))?\}/g, (_, name?: string, operator?: string, other = '') => {
    if (name === undefined) return '$';
    const value = env[name] ?? '';
    if (operator === '+') return value === '' ? '' : other;
    if (value !== '' || operator === undefined) return value;
    if (operator === '?') throw new Error(`${name} is not set in the environment of the compose file.`);
    return other;
  });
}

function interpolated(value: unknown, env: Record<string, string>): unknown {
  if (typeof value === 'string') return interpolate(value, env);
  if (Array.isArray(value)) return value.map((item) => interpolated(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolated(item, env)]));
}

/** Runs podman with the second cgroup hierarchy of a hybrid machine hidden. */
async function podman(args: string[], options: { input?: string } = {}): Promise<string> {
  const script =
    'umount /sys/fs/cgroup/unified 2>/dev/null || true; exec podman --storage-driver vfs --cgroup-manager=cgroupfs --runtime crun "$@"';
  const running = execute('unshare', ['-m', 'sh', '-c', script, 'podman', ...args], { maxBuffer });
  // a program that ends before it has read its input reports the reason itself
  running.child.stdin?.on('error', () => undefined).end(options.input);
  return (await running).stdout;
}

export interface ComposeStack extends AsyncDisposable {
  /** Starts services in the order of their dependencies; running ones are left alone. */
  up(names: readonly string[], env?: Record<string, string>): Promise<void>;
  /** Runs a one-off container of a service to its end, and returns its output. */
  run(name: string, command: string[], env?: Record<string, string>): Promise<string>;
  exec(name: string, command: string[], input?: string): Promise<string>;
  stop(name: string): Promise<void>;
  /** Removes the data of a volume. */
  removeVolume(name: string): Promise<void>;
  addressOf(name: string): string;
  logs(name: string): Promise<string>;
}

/**
 * Runs `docker-compose.yml` without an engine: each service in a container and a network namespace of its own on one bridge,
 * under its name, with the variables, volumes, conditions and health checks of the file.
 */
export async function openCompose(env: Record<string, string>): Promise<ComposeStack> {
  const tag = `dkt${process.pid % 10_000}`;
  const network = `10.${50 + (process.pid % 150)}.77`;
  const text = await readFile(join(checkout, 'docker-compose.yml'), 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'docket-compose-'));
  const names = Object.keys(
    z.object({ services: z.record(z.string(), z.unknown()) }).parse(parse(text, { merge: true })).services,
  );
  const running = new Map<string, string>();
  const ended = new Set<string>();
  let wires = 0;
  const containerOf = (name: string) => `${tag}-${name}`;
  const addressOf = (name: string) => `${network}.${10 + names.indexOf(name)}`;
  const ip = (...args: string[]) => execute('ip', args);

  await ip('link', 'add', tag, 'type', 'bridge');
  await ip('addr', 'add', `${network}.1/24`, 'dev', tag);
  await ip('link', 'set', tag, 'up');

  function serviceOf(name: string, change: Record<string, string>): Service {
    const { services } = z
      .object({ services: z.record(z.string(), z.unknown()) })
      .parse(interpolated(parse(text, { merge: true }), { ...env, ...change }));
    return serviceSchema.parse(services[name]);
  }

  async function connect(name: string, space: string): Promise<void> {
    wires += 1;
    // a unique name, because the network link of a container may outlive the container
    const wire = `${tag}w${wires}`;
    await ip('netns', 'add', space);
    await ip('link', 'add', wire, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    await ip('link', 'set', wire, 'master', tag, 'up');
    const address = space.endsWith('-run') ? `${network}.${100 + names.indexOf(name)}` : addressOf(name);
    await ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) await ip('-n', space, 'link', 'set', device, 'up');
  }

  async function argumentsOf(name: string, service: Service, space: string): Promise<string[]> {
    const file = join(folder, `${space}.env`);
    const variables = Object.entries(service.environment).map(([key, value]) => `${key}=${value ?? ''}`);
    await writeFile(file, `${variables.join('\n')}\n`, { mode: 0o600 });
    const volumes = service.volumes.map((volume) => {
      const [source = '', ...rest] = volume.split(':');
      const from = source.startsWith('.')
        ? resolve(checkout, source)
        : source.startsWith('/')
          ? source
          : `${tag}-${source}`;
      return ['--volume', [from, ...rest].join(':')];
    });
    const security = service.security_opt.map((option) =>
      option === 'systempaths=unconfined' ? 'unmask=ALL' : option,
    );
    return [
      '--cgroups=disabled',
      '--network',
      `ns:/run/netns/${space}`,
      '--hostname',
      name,
      '--pull=never',
      '--ulimit=nofile=20000:20000',
      '--ulimit=nproc=4000:4000',
      '--env-file',
      file,
      ...names.flatMap((other) => ['--add-host', `${other}:${addressOf(other)}`]),
      ...volumes.flat(),
      ...security.flatMap((option) => ['--security-opt', option]),
      ...(service.entrypoint === undefined ? [] : ['--entrypoint', JSON.stringify(service.entrypoint)]),
      imageOf(service.image),
    ];
  }

  async function start(name: string, change: Record<string, string>): Promise<void> {
    const service = serviceOf(name, change);
    const container = containerOf(name);
    await connect(name, container);
    running.set(name, service.stop_grace_period);
    const args = await argumentsOf(name, service, container);
    await podman(['run', '--detach', '--name', container, ...args, ...commandOf(service)]);
  }

  async function remove(name: string, space: string): Promise<void> {
    await podman(['rm', '--force', '--time', '0', space]).catch(() => undefined);
    await ip('netns', 'del', space).catch(() => undefined);
    running.delete(name);
  }

  /** As `service_healthy`: the health check of the file says so. */
  async function untilHealthy(name: string, { healthcheck }: Service): Promise<void> {
    const [kind, ...test] = healthcheck?.test ?? ['NONE'];
    if (kind === 'NONE') return;
    const command = kind === 'CMD-SHELL' ? ['/bin/sh', '-c', test.join(' ')] : test;
    for (let left = 120; ; left -= 1) {
      try {
        await podman(['exec', containerOf(name), ...command]);
        return;
      } catch (error) {
        if (left === 0) throw new Error(`${name} does not become healthy:\n${await logs(name)}`, { cause: error });
        await delay(1_000);
      }
    }
  }

  /** As `service_completed_successfully`, with the retries of the file. */
  async function untilCompleted(name: string, service: Service, change: Record<string, string>): Promise<void> {
    for (let left = Number(/^on-failure:(\d+)$/.exec(service.restart)?.[1] ?? 0); ; left -= 1) {
      const code = (await podman(['wait', containerOf(name)])).trim();
      if (code === '0') break;
      const said = await logs(name);
      await remove(name, containerOf(name));
      if (left === 0) throw new Error(`${name} ended with ${code}:\n${said}`);
      await delay(2_000);
      await start(name, change);
    }
    await remove(name, containerOf(name));
    ended.add(name);
  }

  async function bring(name: string, condition: string, change: Record<string, string>): Promise<void> {
    if (ended.has(name)) return;
    const service = serviceOf(name, change);
    for (const [other, needed] of Object.entries(service.depends_on)) await bring(other, needed.condition, change);
    if (!running.has(name)) await start(name, change);
    if (condition === 'service_completed_successfully') await untilCompleted(name, service, change);
    else await untilHealthy(name, service);
  }

  async function logs(name: string): Promise<string> {
    return podman(['logs', '--tail', '60', containerOf(name)]).catch(String);
  }

  async function stop(name: string): Promise<void> {
    await podman(['stop', '--time', String(Number.parseInt(running.get(name) ?? '10', 10)), containerOf(name)]);
    await remove(name, containerOf(name));
  }

  return {
    addressOf,
    logs,
    stop,
    async up(wanted, change = {}) {
      for (const name of wanted) await bring(name, 'service_healthy', change);
    },
    async run(name, command, change = {}) {
      const space = `${containerOf(name)}-run`;
      await connect(name, space);
      try {
        const [program = '', ...rest] = command;
        const args = await argumentsOf(name, { ...serviceOf(name, change), entrypoint: [program] }, space);
        return await podman(['run', '--name', space, ...args, ...rest]);
      } finally {
        await podman(['rm', '--force', space]).catch(() => undefined);
        await ip('netns', 'del', space).catch(() => undefined);
      }
    },
    exec: (name, command, input) =>
      podman(['exec', ...(input === undefined ? [] : ['--interactive']), containerOf(name), ...command], { input }),
    removeVolume: async (name) => void (await podman(['volume', 'rm', `${tag}-${name}`])),
    async [Symbol.asyncDispose]() {
      for (const name of running.keys()) await remove(name, containerOf(name));
      const volumes = (await podman(['volume', 'ls', '--quiet']))
        .split('\n')
        .filter((name) => name.startsWith(`${tag}-`));
      if (volumes.length > 0) await podman(['volume', 'rm', '--force', ...volumes]).catch(() => undefined);
      await ip('link', 'del', tag).catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function commandOf({ command }: Service): string[] {
  return typeof command === 'string' ? command.split(/\s+/) : (command ?? []);
}

function imageOf(name: string): string {
  if (name.startsWith('docket:')) return `localhost/${name}`;
  return name.includes('/') ? `docker.io/${name}` : `docker.io/library/${name}`;
}
