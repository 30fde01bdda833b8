import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEval } from '../support/eval.ts';
import { createTestRepository } from '../support/git-repository.ts';
import { startTestStack, type TestStack } from '../support/stack/stack.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const names = Array.from({ length: 12 }, (_, index) => `lamp-${index + 1}`);
const promptOf = (name: string) => `${name} is twice as bright as it should be`;
const finish = { calls: [{ name: 'finish', input: { title: 'Done', summary: 'Done.' } }] };
const recording = (name: string, brightness: number) => ({
  task: name,
  prompt: promptOf(name),
  replies: [
    { calls: [{ name: 'read', input: { path: `${name}.txt` } }] },
    { calls: [{ name: 'edit', input: { path: `${name}.txt`, old: '80', new: String(brightness) } }] },
    finish,
  ],
});
/** The good model fails on one task, and the bad one resolves two. */
const recordings = {
  good: names.map((name, index) => recording(name, index === 11 ? 60 : 40)),
  bad: names.map((name, index) => recording(name, index >= 10 ? 40 : 60)),
};

let folder: string;
let player: ReturnType<typeof startEval>;
let stack: TestStack;

beforeAll(async () => {
  folder = temporaryDirectory();
  await mkdir(join(folder, 'suite'));
  const files = Object.fromEntries(names.map((name) => [`${name}.txt`, 'brightness 40\n']));
  const { git } = await createTestRepository(files, { path: join(folder, 'acme+lamp') });
  const tasks = names.map(
    (name) => `  - id: ${name}
    kind: fix
    prompt: ${promptOf(name)}
    seed: [{ path: ${name}.txt, find: '40', replace: '80' }]
    check: { run: grep -qx 'brightness 40' ${name}.txt }
`,
  );
  const head = `repository: acme/lamp\ncommit: ${await git('rev-parse', 'main')}\nlanguage: text\ntasks:\n`;
  await writeFile(join(folder, 'suite/lamp.yaml'), head + tasks.join(''));
  for (const [model, of] of Object.entries(recordings))
    await writeFile(join(folder, `${model}.jsonl`), of.map((one) => `${JSON.stringify(one)}\n`).join(''));

  player = startEval(['play', join(folder, 'good.jsonl'), join(folder, 'bad.jsonl'), '--port', '0']);
  const said = await new Promise<string>((resolve) =>
    player.child.stdout.once('data', (data) => resolve(String(data))),
  );
  const [, url] = /^OPENAI_COMPATIBLE_BASE_URL=(\S+) serves compatible\/good and compatible\/bad\./.exec(said) ?? [];
  const env = { OPENAI_COMPATIBLE_BASE_URL: url, OPENAI_COMPATIBLE_API_KEY: 'key', DOCKET_SELF_REVIEW: 'off' };
  stack = await startTestStack({ env });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  player?.child.kill('SIGINT');
  expect(await player?.ended).toMatchObject({ code: 0, error: '' });
});

const evaluate = (...args: string[]) => startEval(args, { DOCKET_HOME: stack.home }).ended;
const run = (name: string, model: string, ...args: string[]) => {
  const suite = ['--suite', join(folder, 'suite'), '--source', `file://${folder}/{owner}+{name}`];
  return evaluate('run', join(folder, name), ...suite, '--model', `compatible/${model}`, ...args);
};
const compare = async (a: string, b: string) => {
  const { out } = await evaluate('compare', join(folder, a), join(folder, b), '--format', 'json');
  const compared = JSON.parse(out);
  return { ...compared, resolved: compared.differences.find(({ figure }: any) => figure === 'resolved') };
};

it('tells recorded good runs from bad ones beyond chance, and equal ones not', { tags: ['slow'] }, async () => {
  expect(await run('good', 'good')).toMatchObject({ code: 0 });
  expect(await run('bad', 'bad')).toMatchObject({ code: 0 });
  const different = await compare('bad', 'good');
  expect(different).toMatchObject({ tasks: 12, worse: ['lamp-12'], resolved: { a: 2 / 12, b: 11 / 12 } });
  expect(different.better).toHaveLength(10);
  expect(different.pValue).toBeLessThan(0.05);
  expect(different.resolved.interval[0]).toBeGreaterThan(0);

  expect(await run('again', 'good')).toMatchObject({ code: 0 });
  const same = await compare('good', 'again');
  expect(same).toMatchObject({ better: [], worse: [], pValue: 1, resolved: { difference: 0 } });
  const [low, high] = same.resolved.interval;
  expect([low < 0, high > 0, high + low]).toEqual([true, true, 0]);
});

it('records what the jobs of a run called, so that it can be played again', { tags: ['slow'] }, async () => {
  expect(await run('first', 'good', '--tasks', 'lamp-{1,12}', '--attempts', '2')).toMatchObject({ code: 0 });
  const { out } = await evaluate('record', join(folder, 'first'));
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const usage = { inputTokens: expect.any(Number), outputTokens: expect.any(Number) };
  const wanted = recordings.good
    .filter(({ task }) => task === 'lamp-1' || task === 'lamp-12')
    .map((one) => ({ ...one, replies: one.replies.map((reply) => ({ usage, ...reply })) }));
  expect(lines.toSorted((a, b) => (a.task < b.task ? -1 : 1))).toEqual(wanted);
});

it('says which recording cannot be played', { tags: ['slow'] }, async () => {
  const good = await readFile(join(folder, 'good.jsonl'), 'utf8');
  const cases = [
    [good.replace('"finish"', '7'), /twice\.jsonl, line 1, is not valid: replies\.2\.calls\.0\.name: /],
    [good + good, /twice\.jsonl has two recordings for the prompt of lamp-1\.\n$/],
  ] as const;
  for (const [text, sentence] of cases) {
    await writeFile(join(folder, 'twice.jsonl'), text);
    const played = await evaluate('play', join(folder, 'twice.jsonl'));
    expect(played).toMatchObject({ code: 1, error: expect.stringMatching(sentence) });
  }
  // a prompt without a recording
  expect(await run('none', 'none', '--tasks', 'lamp-1')).toMatchObject({ code: 0 });
  expect(await readFile(join(folder, 'none'), 'utf8')).toContain('"failure":"model_refused"');
});
