import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runBatch } from '../../../activities/tools/run-batch.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { createOfflineEditor } from '../../../models/offline-editor/offline-editor.ts';
import { startAgent, type Call, type Files } from '../../unit/models/memory-agent.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const folder = temporaryDirectory();

/** Returns what the model does to real files with the agent's own tools. */
async function work(before: Files, prompt: string) {
  const root = mkdtempSync(join(folder, 'tree-'));
  for (const [path, content] of Object.entries(before)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const runCalls = async (calls: Call[]) => {
    const results = await runBatch(createToolset(), calls, { root, signal: new AbortController().signal });
    return results.map(({ output, isError }) => ({
      type: isError ? ('error-text' as const) : ('text' as const),
      value: output,
    }));
  };
  const agent = startAgent(createOfflineEditor(), {}, { runCalls });
  agent.say(prompt);
  const turn = await agent.run();
  const paths = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const after = paths.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(root.length + 1), readFileSync(path, 'utf8')];
  });
  return { after: Object.fromEntries(after), turn };
}

describe('the offline editor with the tools of the agent', () => {
  it.each<[string, Files, Files]>([
    ['Replace "a" with "$&" in x.md', { 'x.md': 'a\r\na' }, { 'x.md': '$&\r\n$&' }],
    ['Create docs/new page.md with "é\\n😀"', {}, {}],
    ['Create `docs/new page.md` with "é\\n😀"', {}, { 'docs/new page.md': 'é\n😀\n' }],
    ['Create x.md with "new"', { 'x.md': 'old' }, { 'x.md': 'old' }],
    ['Create x.png with "new"', { 'x.png': '\0' }, { 'x.png': '\0' }],
    ['Create ../x.md with "new". Create .git/hooks/x with "new"', {}, {}],
    ['Append "b" to x.md', { 'x.md': '\ufeffa\r\na\r\n' }, { 'x.md': '\ufeffa\r\na\r\nb\r\n' }],
    ['Append "b" to x.md', { 'x.md': 'a' }, { 'x.md': 'a\nb' }],
    ['Append "b" to x.md', { 'x.md': '' }, { 'x.md': 'b\n' }],
    ['Append "b" to x.md', { 'x.md': '}\n'.repeat(4500) }, { 'x.md': `${'}\n'.repeat(4500)}b\n` }],
    ['Append "b" to x.md', { 'x.md': `${'x'.repeat(60_000)}` }, { 'x.md': `${'x'.repeat(60_000)}` }],
    [
      'Delete docs. Rename y.md to a/b/z.md',
      { 'docs/a/x.md': 'x', 'docs/y.md': 'y', 'y.md': 'z' },
      { 'a/b/z.md': 'z' },
    ],
    ['Replace "a" with "b" in x.png', { 'x.png': 'a\0' }, { 'x.png': 'a\0' }],
    [
      'Replace "foo" with "foo bar" everywhere',
      { '[id].md': 'foo', 'a:1: b.md': 'x' },
      { '[id].md': 'foo bar', 'a:1: b.md': 'x' },
    ],
  ])('does %j', async (prompt, before, after) => {
    expect((await work(before, prompt)).after).toEqual(after);
  });

  it.each(['bar', 'foo and foo'])('replaces by %j in more files than one search shows', async (next) => {
    const content = 'a foo\n'.repeat(12);
    const before = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`docs/${index}.md`, content]));
    const { after, turn } = await work(before, `Replace "foo" with "${next}" everywhere`);
    expect(new Set(Object.values(after))).toEqual(new Set([content.replaceAll('foo', next)]));
    expect(turn.summary).toContain('In 25 files');
    expect(turn.complete).toBe(true);
  });

  it(
    'replaces in more files than one search lists, in few steps, and reports what it skipped',
    { tags: 'slow' },
    async () => {
      const before: Files = {};
      for (let index = 0; index < 450; index += 1)
        before[`${index % 7 === 0 ? 'a.b' : 'a'}/${index}.md`] = 'one e\n'.repeat(30);
      const whole = await work(before, 'Replace "e" with "E" everywhere');
      expect(Object.values(whole.after)).toEqual(Object.keys(before).map(() => 'onE E\n'.repeat(30)));
      expect(whole.turn).toMatchObject({ complete: true, title: 'Replace "e" with "E" everywhere' });
      expect(whole.turn.batches.length).toBeLessThan(10);

      const large = 'e'.repeat(12_700_000);
      const { after, turn } = await work(
        { 'a.md': 'e', 'm/huge.txt': large, 'z.md': 'e' },
        'Replace "e" with "E" everywhere',
      );
      expect(after).toEqual({ 'a.md': 'E', 'm/huge.txt': large, 'z.md': 'E' });
      expect(turn).toMatchObject({ complete: false, title: 'Unfinished: Replace "e" with "E" everywhere' });
      expect(turn.summary).toContain('m/huge.txt');
    },
  );

  it('finishes within the limits of the tool after any amount of work', async () => {
    const prompt = `Delete ${'x'.repeat(300)}.md. `.repeat(30) + 'Say "hello" to everybody.\n'.repeat(400);
    const { turn } = await work({}, prompt);
    expect(turn.batches.at(-1)?.map(({ toolName }) => toolName)).toEqual(['finish']);
    expect(turn.summary.length).toBeLessThan(20_000);
  });
});
