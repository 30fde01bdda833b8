import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readRun } from '../suites/eval/results.ts';
import { startEval } from '../support/eval.ts';
import { createTestRepository } from '../support/git-repository.ts';
import {
  startScriptedModelServer,
  type ScriptedModelServer,
  type ScriptedReply,
} from '../support/servers/scripted-model-server.ts';
import { startTestStack, type TestStack } from '../support/stack/stack.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { patienceMs } from '../support/patience.ts';

const sum = 'export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);\n';
const write = (path: string, content: string): ScriptedReply => ({
  toolCalls: [{ name: 'write', input: { path, content } }],
});
const finish: ScriptedReply = { toolCalls: [{ name: 'finish', input: { title: 'Done', summary: 'Done.' } }] };

/** Recorded runs: the replies of each model to each prompt. */
const recorded: Record<string, Record<string, ScriptedReply[]>> = {
  good: {
    'sum adds wrongly': [write('sum.mjs', sum), finish],
    'mention the port': [write('README.md', '# Lamp\n\nThe port is 4170.\n'), finish],
    'rename the constant': [write('colors.mjs', "export const primary = 'red';\n"), finish],
  },
  bad: {
    // it makes the visible test pass by removing it
    'sum adds wrongly': [write('sum.test.mjs', ''), finish],
    'mention the port': [write('README.md', '# Lamp\n\nThe port is 4170.\n'), write('other.md', 'x\n'), finish],
    'rename the constant': [finish],
  },
};

let folder: string;
let model: ScriptedModelServer;
let stack: TestStack;

beforeAll(async () => {
  folder = temporaryDirectory();
  await mkdir(join(folder, 'suite'));
  const lamp = await createTestRepository(
    {
      'README.md': '# Lamp\n',
      'sum.mjs': sum,
      'sum.test.mjs': "import { sum } from './sum.mjs';\nif (sum([1, 2, 3]) !== 6) process.exit(1);\n",
    },
    { path: join(folder, 'acme+lamp') },
  );
  const theme = await createTestRepository(
    { 'colors.mjs': "export const main = 'red';\n", LICENSE: 'MIT\n' },
    { path: join(folder, 'acme+theme') },
  );
  await writeFile(
    join(folder, 'suite/lamp.yaml'),
    `repository: acme/lamp
commit: ${await lamp.git('rev-parse', 'main')}
language: JavaScript
tasks:
  - id: sum
    kind: fix
    prompt: sum adds wrongly
    seed:
      - { path: sum.mjs, find: total + number, replace: total - number }
    check: { restore: [sum.test.mjs], run: node sum.test.mjs }
  - id: port
    kind: docs
    prompt: mention the port
    solution:
      - { path: README.md, find: '# Lamp', replace: "# Lamp\\n\\nThe port is 4170." }
    check: { only: [README.md], lines: 4, run: grep -q 4170 README.md }
`,
  );
  await writeFile(
    join(folder, 'suite/theme.yaml'),
    `repository: acme/theme
commit: ${await theme.git('rev-parse', 'main')}
language: JavaScript
needs: [node]
tasks:
  - id: constant
    kind: refactor
    prompt: rename the constant
    solution:
      - { path: '**', find: main, replace: primary, every: true }
    check:
      files: { check.mjs: "import { primary } from './colors.mjs'; if (primary !== 'red') process.exit(1);" }
      run: node check.mjs
  - id: license
    kind: edit
    prompt: Rename LICENSE to LICENSE.txt.
    solution:
      - { path: LICENSE, to: LICENSE.txt }
    check: { exact: true }
`,
  );
  model = await startScriptedModelServer();
  model.respondWith(({ body }) => {
    const prompt = JSON.stringify(body.messages.filter(({ role }) => role === 'user'));
    const [, replies = []] = Object.entries(recorded[body.model] ?? {}).find(([asked]) => prompt.includes(asked)) ?? [];
    return replies[body.messages.filter(({ role }) => role === 'assistant').length] ?? finish;
  });
  stack = await startTestStack({
    env: { OPENAI_COMPATIBLE_BASE_URL: model.baseUrl, DOCKET_SELF_REVIEW: 'off', OPENAI_COMPATIBLE_API_KEY: 'key' },
  });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

const suite = () => ['--suite', join(folder, 'suite'), '--source', `file://${folder}/{owner}+{name}`];
const evaluate = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  startEval(args, { DOCKET_HOME: stack.home, ...env }).ended;
const run = (name: string, ...args: string[]) => evaluate(['run', join(folder, name), ...suite(), ...args]);

const jobs = async () => {
  const { baseUrl, adminKey } = stack.localJson;
  const response = await fetch(`${baseUrl}/v1/jobs?limit=100`, { headers: { authorization: `Bearer ${adminKey}` } });
  return ((await response.json()) as { jobs: { id: string; model: string }[] }).jobs;
};

it('proves that its tasks can be solved and are not solved yet', { tags: ['slow'] }, async () => {
  const verified = await evaluate(['verify', ...suite()]);
  expect(verified).toMatchObject({
    code: 0,
    out: expect.stringContaining('4 tasks in 2 repositories: 4 hold, 0 are wrong'),
  });

  // the untouched repository passes the first, and the solution of the second does not
  await mkdir(join(folder, 'weak'));
  const lamp = await readFile(join(folder, 'suite/lamp.yaml'), 'utf8');
  const weak = lamp.replace('run: node sum.test.mjs', "run: 'true'").replace('grep -q 4170', 'grep -q 4171');
  await writeFile(join(folder, 'weak/lamp.yaml'), weak);
  const refuted = await evaluate(['verify', ...suite(), '--suite', join(folder, 'weak')]);
  expect(refuted.code).toBe(1);
  expect(refuted.out).toContain('sum: the untouched repository passes');
  expect(refuted.out).toContain('port: the reference solution fails: check_failed');
});

it('tells a good run from a bad one', { tags: ['slow'] }, async () => {
  for (const name of ['good', 'bad'])
    expect(await run(name, '--model', `compatible/${name}`, '--kind', 'fix')).toMatchObject({ code: 0 });
  // the same files again, with the other kinds: what has a result is not repeated
  for (const name of ['good', 'bad'])
    expect(await run(name, '--model', `compatible/${name}`)).toMatchObject({
      code: 0,
      error: expect.stringContaining('1 of 4 attempts have a result already'),
    });
  const ends = (name: string) =>
    Object.fromEntries(
      readRun(join(folder, name)).results.map(({ task, resolved, failure }) => [task, resolved || failure]),
    );
  expect(ends('good')).toEqual({ sum: true, port: true, constant: true, license: 'no_change' });
  expect(ends('bad')).toEqual({
    sum: 'check_failed',
    port: 'other_paths',
    constant: 'no_change',
    license: 'no_change',
  });

  const report = await evaluate(['report', join(folder, 'good'), '--format', 'markdown']);
  expect(report.out).toMatch(/^\| all \| 4 \| 4 \| 3 \| 75\.0% \[30\.1%, 95\.4%\] \| - \| 1\.8 \| /m);
  const compared = await evaluate(['compare', join(folder, 'bad'), join(folder, 'good'), '--format', 'json']);
  expect(JSON.parse(compared.out)).toMatchObject({
    tasks: 4,
    better: ['constant', 'port', 'sum'],
    worse: [],
    pValue: 0.25,
    differences: expect.arrayContaining([
      expect.objectContaining({ figure: 'resolved', a: 0, b: 0.75, difference: 0.75 }),
    ]),
  });
});

it('scores the offline editor on the tasks that its grammar can express', { tags: ['slow'] }, async () => {
  expect(await run('offline', '--model', 'offline/editor', '--kind', 'edit')).toMatchObject({ code: 0 });
  expect(readRun(join(folder, 'offline')).results).toMatchObject([
    { task: 'license', resolved: true, steps: expect.any(Number) },
  ]);
});

it('goes on after a kill without starting a job twice', { tags: ['slow'] }, async () => {
  const before = (await jobs()).length;
  const asked = model.requests.length;
  const args = [
    'run',
    join(folder, 'killed'),
    ...suite(),
    '--model',
    'compatible/good',
    '--attempts',
    '2',
    '--concurrency',
    '2',
  ];
  const first = startEval(args, { DOCKET_HOME: stack.home });
  const results = async () => (await readFile(join(folder, 'killed'), 'utf8').catch(() => '')).split('\n').length - 2;
  await vi.waitFor(async () => expect(await results()).toBeGreaterThan(0), { timeout: patienceMs, interval: 50 });
  // jobs of the killed run are active now
  await vi.waitFor(async () => expect((await jobs()).length - before).toBeGreaterThan(await results()), {
    timeout: patienceMs,
  });
  first.child.kill('SIGKILL');
  await first.ended;
  // as a kill in the middle of a write leaves it
  await writeFile(join(folder, 'killed'), '{"task":"su', { flag: 'a' });
  const kept = readRun(join(folder, 'killed')).results;
  expect(kept.length).toBeLessThan(8);

  expect(await startEval(args, { DOCKET_HOME: stack.home }).ended).toMatchObject({ code: 0 });
  const after = readRun(join(folder, 'killed')).results;
  expect(after.slice(0, kept.length)).toEqual(kept);
  expect(after.filter(({ resolved }) => resolved)).toHaveLength(6);
  expect(new Set(after.map(({ job }) => job)).size).toBe(8);
  expect((await jobs()).length - before).toBe(8);
  // two replies, three times, twice; and one for each edit that this model does not make
  expect(model.requests.length - asked).toBe(2 * 3 * 2 + 2);
});

it('turns instances in the format of SWE-bench into predictions', { tags: ['slow'] }, async () => {
  const { commit } = (await readFile(join(folder, 'suite/lamp.yaml'), 'utf8')).match(/commit: (?<commit>\w+)/)!.groups!;
  const instance = {
    instance_id: 'acme__lamp-1',
    repo: 'acme/lamp',
    base_commit: commit,
    problem_statement: 'mention the port',
    hints_text: '',
  };
  await writeFile(join(folder, 'instances.jsonl'), `${JSON.stringify(instance)}\n`);
  const args = ['--instances', join(folder, 'instances.jsonl'), '--model', 'compatible/good'];
  expect(await run('instances', ...args)).toMatchObject({ code: 0 });
  const { out } = await evaluate(['predictions', join(folder, 'instances')]);
  const { model_patch, ...prediction } = JSON.parse(out) as Record<string, string>;
  expect(prediction).toEqual({ instance_id: 'acme__lamp-1', model_name_or_path: 'docket/compatible/good' });
  expect(model_patch).toMatch(/^diff --git a\/README\.md b\/README\.md\n[\s\S]*\+The port is 4170\.\n$/);
});

it('ends in one sentence when it is used wrongly', { tags: ['slow'] }, async () => {
  await writeFile(join(folder, 'broken.jsonl'), '{"instance_id": "a"}\n{"ins');
  await writeFile(join(folder, 'other'), '{"run":"1","model":"other/model","instances":null}\n');
  const cases: [args: string[], env: NodeJS.ProcessEnv, sentence: RegExp][] = [
    [['new', '--instances', join(folder, 'broken.jsonl')], {}, /broken\.jsonl, line 1, is not valid: repo: /],
    [['new', '--instances', '/nowhere.jsonl'], {}, /^\/nowhere\.jsonl cannot be read\.\n$/],
    [['new', '--tasks', 'unknown'], {}, /^No task matches; there are 4, /],
    [['new'], { DOCKET_URL: 'http://127.0.0.1:1' }, /^An admin key \(svc_…\) is required/],
    [
      ['new'],
      { DOCKET_URL: 'http://127.0.0.1:1', DOCKET_API_KEY: `svc_${'a'.repeat(61)}` },
      /^Docket does not respond at /,
    ],
    [['new'], { DOCKET_API_KEY: `svc_${'a'.repeat(61)}` }, /key/],
    [
      ['other'],
      {},
      /is a run of other\/model on Docket's tasks\. Pass its --model and --instances, or name another file\.\n$/,
    ],
    [['no/folder/new'], {}, /cannot be written\.\n$/],
  ];
  for (const [[name = '', ...args], env, sentence] of cases) {
    const { code, out, error } = await evaluate(['run', join(folder, name), ...suite(), ...args], env);
    expect({ code, out }, args.join(' ')).toEqual({ code: 1, out: '' });
    expect(error).toMatch(sentence);
    expect(error.trimEnd().split('\n')).toHaveLength(1);
    await rm(join(folder, 'new'), { force: true });
  }
});
