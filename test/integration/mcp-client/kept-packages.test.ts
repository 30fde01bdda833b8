import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEgress } from '../../../lib/network/egress.ts';
import { openTestCommands, scriptCommand, scriptServer, type TestCommands } from '../../support/servers/mcp-command.ts';
import { startNpmRegistry } from '../../support/servers/npm-registry.ts';
import { commandSceneOf, testJob } from './scene.ts';

const hasNpm = ['/usr/bin/npm', '/usr/local/bin/npm'].some((path) => existsSync(path));
const limit = { tags: 'slow', timeout: 300_000 };
const token = 'token-of-service-0123456789';
const values = [{ name: 'SERVICE_TOKEN', value: token }];

type Scene = ReturnType<typeof commandSceneOf>;

/** Lists the tools as a turn does that begins, and calls the one of the server in a batch. */
async function useServer(scene: Scene, job = testJob): Promise<string> {
  const { tools, notices } = await scene.pin(job);
  expect(notices).toEqual([]);
  return callServer(scene, tools[0]!, job);
}

async function callServer(
  scene: Scene,
  tool: Awaited<ReturnType<Scene['pin']>>['tools'][number],
  job = testJob,
): Promise<string> {
  await using caller = scene.caller(undefined, job);
  const { text, isError } = await caller.call(tool, {}, 'c');
  expect([text, isError]).toEqual([text, false]);
  return text;
}

const keptIn = ({ commands }: TestCommands) => readdir(join(commands.directory, 'layers')).catch(() => []);

it.runIf(hasNpm)('downloads the program of a server once for each project and command', limit, async () => {
  await using registry = await startNpmRegistry('lamp-mcp', '', scriptServer);
  const egress = createEgress({
    privateHosts: [registry.host],
    resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  await using online = await openTestCommands({ hosts: [registry.host], egress });
  const npx = ['npx', '-y', `--registry=http://${registry.host}/`, 'lamp-mcp'];
  const downloads = () => registry.asked.filter((path) => path.endsWith('.tgz')).length;
  const scene = commandSceneOf([...npx, 'echo lit'], online.commands, values);
  expect(await useServer(scene)).toContain('lit');
  expect(downloads()).toBe(1);
  // a further turn, and another job
  expect(await useServer(scene)).toContain('lit');
  expect(await useServer(scene, { ...testJob, id: 'job_2' })).toContain('lit');
  expect(downloads()).toBe(1);
  await useServer(scene, { ...testJob, project: { ...testJob.project, id: 'prj_2' } });
  expect(downloads()).toBe(2);
  await useServer(commandSceneOf([...npx, 'echo dark'], online.commands, values));
  expect(downloads()).toBe(3);
});

it('keeps nothing that a server writes while an agent uses it', limit, async () => {
  await using sandbox = await openTestCommands();
  const { directory } = sandbox.commands;
  const start = ['sh', '-c', 'echo listed >> ~/starts; exec "$0" "$@"'];
  const server = scriptCommand('cat ~/starts ~/called; touch ~/called; echo called >> ~/starts; rm -rf ~/.cache');
  const scene = commandSceneOf([...start, ...server], sandbox.commands, values);
  const [tool] = (await scene.pin()).tools;
  expect(await keptIn(sandbox)).toEqual([expect.stringMatching(/^prj_1\.mcp-[0-9a-f]{40}$/)]);
  for (let call = 1; call <= 2; call += 1) {
    const text = await callServer(scene, tool!);
    expect(text).toMatch(/```\nlisted\nlisted\ncat: .*called/);
    expect(text).not.toMatch(/^called/m);
  }
  // what was kept at first is not replaced
  await scene.pin();
  expect(await callServer(scene, tool!)).toMatch(/```\nlisted\nlisted\ncat: /);
  expect((await readdir(directory)).filter((name) => name.startsWith('mcp-'))).toEqual([]);
});

it.each([
  ['as it is', 'printf %s "$SERVICE_TOKEN" > ~/token'],
  ['in base64', 'printf %s "user:$SERVICE_TOKEN" | base64 -w 0 > ~/token'],
])('keeps nothing of a server that wrote a value of its environment %s', limit, async (_how, script) => {
  await using sandbox = await openTestCommands();
  const command = ['sh', '-c', `${script}; exec "$0" "$@"`, ...scriptCommand('ls ~')];
  const scene = commandSceneOf(command, sandbox.commands, values);
  expect(await useServer(scene)).toContain('token');
  expect(await keptIn(sandbox)).toEqual([]);
  // the same with a value that the server does not write
  const other = commandSceneOf(command, sandbox.commands, [{ name: 'OTHER', value: token }]);
  expect(await useServer(other)).toContain('token');
  expect(await keptIn(sandbox)).toHaveLength(1);
});

it('keeps nothing of a server that fails', limit, async () => {
  await using sandbox = await openTestCommands();
  const scene = commandSceneOf(['sh', '-c', 'echo half > ~/program; exit 1'], sandbox.commands);
  expect((await scene.pin()).notices).toHaveLength(1);
  expect(await keptIn(sandbox)).toEqual([]);
});
