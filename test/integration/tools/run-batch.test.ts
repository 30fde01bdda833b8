import { expect, it } from 'vitest';
import { z } from 'zod';
import { runBatch, validateCall } from '../../../activities/tools/run-batch.ts';
import type { Toolset } from '../../../activities/tools/agent-tool.ts';
import { createToolset, finishCallOf, todoItemsOf } from '../../../activities/tools/toolset.ts';
import type { ToolCall } from '../../../db/for-worker/steps.ts';
import { createTree } from './tree.ts';

const signal = new AbortController().signal;

function call(toolName: string, input: unknown, more: Partial<ToolCall> = {}): ToolCall {
  return { toolCallId: `${toolName}-${JSON.stringify(input)}`, toolName, input, ...more };
}

it('returns results in the order of the calls, each seeing what earlier ones wrote', async () => {
  await using tree = await createTree({ 'a.txt': 'one\n' });
  const calls = [
    call('finish', { title: 'Done', summary: '' }),
    call('read', { path: 'a.txt' }),
    call('edit', { path: 'a.txt', old: 'one', new: 'two' }),
    call('read', { path: 'a.txt', limit: 5 }),
    call('edit', { path: 'a.txt', old: 'two', new: 'three' }),
    call('grep', { pattern: 'three' }),
  ];
  const results = await runBatch(createToolset(), calls, { root: tree.root, signal });
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId));
  expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false, false, false]);
  expect(results[1]?.output).toContain('1|one');
  expect(results[3]?.output).toContain('1|two');
  expect(results[5]?.output).toBe('a.txt:1: three');
});

it('answers invalid and unknown calls with a sentence and runs the others', async () => {
  await using tree = await createTree();
  const calls = [
    call('run', { command: 'ls' }),
    call('constructor', {}),
    call('write', { path: 'a.txt', content: 'a' }, { invalid: 'The arguments are not JSON.' }),
    call('write', { path: 'b.txt' }),
    call('write', { path: 'c.txt', content: 'c\n' }),
    call('finish', { title: 'Done', summary: 'all of it' }),
  ];
  const results = await runBatch(createToolset(), calls, { root: tree.root, signal });
  expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true, false, true]);
  expect(results[0]?.output).toBe(
    'There is no tool named "run". The tools are read, write, edit, multi_edit, delete, move, list, glob, grep, log, blame, show, diff, skill, fetch, todo, ask, finish.',
  );
  expect(results[2]?.output).toBe('The arguments are not JSON.');
  expect(results[3]?.output).toContain('content: ');
  expect(results[5]?.output).toContain('The work is not finished: 4 calls beside finish failed.');
  expect((await tree.run('list', {})).text).toBe('c.txt  2 B');
});

it('accepts finish even if a read-only call failed', async () => {
  await using tree = await createTree();
  const calls = [call('read', { path: 'nope' }), call('finish', { title: 'Done', summary: '' })];
  const results = await runBatch(createToolset(), calls, { root: tree.root, signal });
  expect(results.map(({ isError }) => isError)).toEqual([true, false]);
});

/** Tools that record when they start and end; each ends in a later turn of the event loop. */
function recordingTools(): { toolset: Toolset; log: string[] } {
  const log: string[] = [];
  const tool = (isReadOnly: boolean, fails = false) => ({
    description: '',
    inputSchema: z.string(),
    isReadOnly,
    async run(input: unknown) {
      log.push(`+${String(input)}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`-${String(input)}`);
      if (fails) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      return { text: '', isError: false };
    },
  });
  return {
    toolset: { look: tool(true), change: tool(false), break: tool(false, true), breakLook: tool(true, true) },
    log,
  };
}

it('runs read-only calls in parallel and changes in sequence', async () => {
  const { toolset, log } = recordingTools();
  const calls = [
    call('look', 'a'),
    call('look', 'b'),
    call('change', 'c'),
    call('change', 'd'),
    call('look', 'e'),
    call('look', 'f'),
  ];
  await runBatch(toolset, calls, { root: '/', signal });
  expect(log.join(' ')).toBe('+a +b -a -b +c -c +d -d +e +f -e -f');
});

it('rethrows unexpected errors, after the parallel calls have ended', async () => {
  const { toolset, log } = recordingTools();
  await expect(runBatch(toolset, [call('break', 'a'), call('change', 'b')], { root: '/', signal })).rejects.toThrow(
    'no space',
  );
  expect(log.splice(0)).toEqual(['+a', '-a']);
  await expect(runBatch(toolset, [call('breakLook', 'a'), call('look', 'b')], { root: '/', signal })).rejects.toThrow(
    'no space',
  );
  expect(log).toEqual(['+a', '+b', '-a', '-b']);
});

it('runs nothing once it is aborted', async () => {
  const { toolset, log } = recordingTools();
  const reason = new Error('cancelled');
  await expect(
    runBatch(toolset, [call('change', 'a')], { root: '/', signal: AbortSignal.abort(reason) }),
  ).rejects.toThrow(reason);
  expect(log).toEqual([]);
});

it('validates calls without running them', () => {
  const toolset = createToolset();
  expect(validateCall(toolset, { toolName: 'list', input: {} })).toEqual({ ok: true, input: { path: '.', depth: 1 } });
  expect(validateCall(toolset, { toolName: '__proto__', input: {} })).toMatchObject({ ok: false });
  expect(validateCall(toolset, { toolName: 'edit', input: '{"path": "a' })).toEqual({
    ok: false,
    problem: 'The input of edit is not a JSON object; call it again.',
  });
  expect(validateCall(toolset, { toolName: 'edit', input: { path: 'a', old: '\ud800', new: '' } })).toMatchObject({
    ok: false,
  });
  expect(validateCall(toolset, { toolName: 'edit', input: null })).toMatchObject({ ok: false });
});

it.each([
  ['read', { path: 'a', offset: '2', limit: null }, { path: 'a', offset: 2 }],
  ['grep', { pattern: 'a', glob: null, ignoreCase: 'True' }, { pattern: 'a', ignoreCase: true }],
  ['edit', { path: 'a', old: 'b', new: 'c', replaceAll: 'false', etag: null }, { old: 'b', replaceAll: false }],
  [
    'multi_edit',
    { path: 'a', edits: '[{"old": "b", "new": "", "replaceAll": "true"}]' },
    { path: 'a', edits: [{ old: 'b', new: '', replaceAll: true }] },
  ],
  ['multi_edit', { path: 'a', edits: { old: 'b', new: 'c' } }, { edits: [{ old: 'b', new: 'c' }] }],
  ['todo', { items: '[{"text": "a", "done": 0}]' }, null],
  ['read', { path: 'a', offset: 'two' }, null],
  ['read', { path: null }, null],
  ['edit', { path: 'a', old: 'b', new: null }, null],
  ['multi_edit', { path: 'a', edits: '[{"old": "b"' }, null],
])('takes values that a model wrote in another form: %s %j', (toolName, input, meant) => {
  const check = validateCall(createToolset(), { toolName, input });
  if (meant === null) expect(check).toMatchObject({ ok: false, problem: expect.stringMatching(/^\w+: The input is/) });
  else expect(check).toMatchObject({ ok: true, input: meant });
});

it('limits the values of a list that a model wrote as text', () => {
  const edit = { old: 'a', new: 'b', ...Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, at])) };
  const call = (count: number) => ({
    toolName: 'multi_edit',
    input: { path: 'a', edits: JSON.stringify(Array.from({ length: count }, () => edit)) },
  });
  expect(validateCall(createToolset(), call(10)).ok).toBe(true);
  expect(validateCall(createToolset(), call(100)).ok).toBe(false);
});

it('runs a call with the values that were meant', async () => {
  await using tree = await createTree({ 'a.txt': 'one\ntwo\n' });
  const calls = [call('read', { path: 'a.txt', offset: '2' })];
  const [result] = await runBatch(createToolset(), calls, { root: tree.root, signal });
  expect(result).toMatchObject({ isError: false, output: expect.stringMatching(/\n     2\|two$/) });
});

it('describes every tool and every input to the model', () => {
  for (const tool of Object.values(createToolset())) {
    const schema = z.toJSONSchema(tool.inputSchema, { io: 'input' });
    expect(tool.description.length).toBeGreaterThan(20);
    expect(schema.type).toBe('object');
    for (const property of Object.values(schema.properties ?? {})) expect(property).toHaveProperty('description');
  }
});

it('finds the finish call and the last todo list', () => {
  const finish = { toolName: 'finish', input: { title: ' Title ', summary: 'Text' } };
  expect(finishCallOf([{ toolName: 'read', input: {} }, { toolName: 'finish', input: {} }, finish])).toEqual({
    title: 'Title',
    summary: 'Text',
  });
  expect(finishCallOf([{ toolName: 'read', input: {} }])).toBeNull();
  const todo = (text: string) => ({ toolName: 'todo', input: { items: [{ text, done: false }] } });
  expect(todoItemsOf([todo('a'), todo('b'), { toolName: 'todo', input: 'c' }])).toEqual([{ text: 'b', done: false }]);
});

it('returns at most 512 KB of output per answer, and every short output', async () => {
  await using tree = await createTree({ 'a.txt': 'word '.repeat(20_000) });
  const calls = [
    ...Array.from({ length: 30 }, (_, offset) => call('read', { path: 'a.txt' }, { toolCallId: `c${offset}` })),
    call('list', {}),
  ];
  const results = await runBatch(createToolset(), calls, { root: tree.root, signal });
  const shown = results.filter(({ output }) => output.includes('word'));
  expect(shown.length).toBeGreaterThan(8);
  expect(Buffer.byteLength(results.map(({ output }) => output).join(''))).toBeLessThan(512 * 1024);
  expect(results[29]?.output).toBe(
    '[Not shown: the outputs of this answer exceed 512 KB. The call has run; read less at once.]',
  );
  expect(results[30]?.output).toContain('a.txt');
});
