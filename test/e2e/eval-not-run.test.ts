import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRun } from '../suites/eval/results.ts';
import { startEval } from '../support/eval.ts';
import { createTestRepository } from '../support/git-repository.ts';
import { startTestStack, type TestStack } from '../support/stack/stack.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

type Instance = [id: string, prompt: string, repository: string];

const prompt = 'Rename LICENSE to LICENSE.txt.';
const folder = temporaryDirectory();
const instances = join(folder, 'instances.jsonl');
let stack: TestStack;
let commit: string;

beforeAll(async () => {
  const lamp = await createTestRepository({ LICENSE: 'MIT\n' }, { path: join(folder, 'acme+lamp') });
  commit = await lamp.git('rev-parse', 'main');
  stack = await startTestStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

async function writeInstances(...of: Instance[]) {
  const lines = of.map(([instance_id, problem_statement, repo]) =>
    JSON.stringify({ instance_id, repo, base_commit: commit, problem_statement }),
  );
  await writeFile(instances, lines.join('\n'));
}

async function run(name: string, { model = 'offline/editor', source = `file://${folder}/{owner}+{name}` } = {}) {
  const args = [
    join(folder, name),
    '--instances',
    instances,
    '--concurrency',
    '1',
    '--model',
    model,
    '--source',
    source,
  ];
  const ended = await startEval(['run', ...args], { DOCKET_HOME: stack.home }).ended;
  const { results } = readRun(join(folder, name));
  return { ...ended, results: results.map(({ task, job, failure, reason }) => [task, job !== null, failure, reason]) };
}

it('goes on after attempts that cannot be run, and tries them again', { tags: ['slow'] }, async () => {
  const rest: Instance[] = [
    ['gone', prompt, 'acme/none'],
    ['fine', prompt, 'acme/lamp'],
  ];
  const gone = [
    'gone',
    false,
    'not_run',
    expect.stringMatching(/acme\+none cannot be fetched at .* Is --source right\?$/),
  ];
  await writeInstances(['long', 'x'.repeat(100_001), 'acme/lamp'], ...rest);
  const first = await run('beside');
  expect(first).toMatchObject({ code: 0, error: expect.stringMatching(/^2\/3 {2}gone\/1 {2}not_run: file/m) });
  const long = ['long', false, 'not_run', expect.stringContaining('100000 characters')];
  expect(first.results).toEqual([long, gone, ['fine', true, null, '']]);
  const { out } = await startEval(['predictions', join(folder, 'beside')]).ended;
  expect(out.trimEnd().split('\n')).toHaveLength(1);

  await writeInstances(['long', prompt, 'acme/lamp'], ...rest);
  const second = await run('beside');
  expect(second).toMatchObject({ code: 0, error: expect.stringMatching(/^1 of 3 attempts have a result/) });
  expect(second.results).toEqual([['long', true, null, ''], gone, ['fine', true, null, '']]);
});

it.each([
  ['the source', { source: 'file:///nowhere' }, /^file:\/\/\/nowhere cannot be fetched at /],
  ['the model', { model: 'nobody/nothing' }, /nobody/],
])('fails when no attempt can be run because of %s', { tags: ['slow'] }, async (what, settings, sentence) => {
  await writeInstances(['a', prompt, 'acme/cold'], ['b', prompt, 'acme/cold']);
  const source = `file://${folder}/acme+lamp`;
  const { code, out, error, results } = await run(what, { source, ...settings });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error.trimEnd().split('\n').at(-1)).toMatch(sentence);
  expect(results.map(([, , failure]) => failure)).toEqual(['not_run', 'not_run']);
});
