import { describe, expect, it } from 'vitest';
import { createOfflineEditor } from '../../../models/offline-editor/offline-editor.ts';
import { collect, startAgent, type AgentOptions, type Files, type Turn } from './memory-agent.ts';

async function work(files: Files, prompt: string, options: AgentOptions = {}): Promise<Turn> {
  const agent = startAgent(createOfflineEditor(), files, options);
  agent.say(prompt);
  return agent.run();
}

const toolsOf = (turn: Turn) => turn.batches.map((batch) => batch.map(({ toolName }) => toolName));

describe('the offline editor', () => {
  it('reads a file before it edits it, and then finishes', async () => {
    const files = { 'README.md': 'teh cat and teh dog\n' };
    const turn = await work(files, 'Replace "teh" with "the" in README.md');
    expect(files).toEqual({ 'README.md': 'the cat and the dog\n' });
    expect(toolsOf(turn)).toEqual([['read'], ['edit'], ['finish']]);
    expect(turn.title).toBe('Replace "teh" with "the" in README.md');
    expect(turn.summary).toBe('- Done: Replace "teh" with "the" in README.md.');
  });

  it('follows several sentences in order', async () => {
    const files = { 'a.md': 'one\n', 'b.md': 'one\n', 'c.md': 'gone\n' };
    const turn = await work(
      files,
      'Replace "one" with "two" in a.md and replace "one" with "2" in b.md. Rename a.md to d.md. Delete c.md.',
    );
    expect(files).toEqual({ 'b.md': '2\n', 'd.md': 'two\n' });
    expect(toolsOf(turn)).toEqual(['read', 'edit', 'read', 'edit', 'move', 'delete', 'finish'].map((tool) => [tool]));
    expect(turn.title).toBe('Replace "one" with "two" in a.md and 3 more');
  });

  it('searches for and edits every file for "everywhere"', async () => {
    const files = { 'a.md': 'foo\nfoo foo\n', 'docs/b.md': 'x foo\n', 'c.md': 'bar\n' };
    const turn = await work(files, 'Replace "foo" with "$&" everywhere');
    expect(files).toEqual({ 'a.md': '$&\n$& $&\n', 'docs/b.md': 'x $&\n', 'c.md': 'bar\n' });
    expect(toolsOf(turn)).toEqual([['grep'], ['edit', 'edit'], ['finish']]);
    expect(turn.summary).toContain('In 2 files: a.md, docs/b.md');
  });

  it.each([
    ['foo', 'bar'],
    ['foo', 'foo and foo'],
    ['q', 'qQ'],
    ['7', '7.0'],
  ])('replaces %j by %j in more files than one search shows', async (old, next) => {
    const content = `${old} is\n`.repeat(12);
    const files = Object.fromEntries(Array.from({ length: 35 }, (_, index) => [`f${index}.md`, content]));
    const turn = await work(files, `Replace "${old}" with "${next}" everywhere`);
    expect(new Set(Object.values(files))).toEqual(new Set([content.replaceAll(old, next)]));
    expect(turn.summary).toContain('In 35 files');
    expect(turn.complete).toBe(true);
    const forgotten = Object.fromEntries(Object.keys(files).map((path) => [path, content]));
    expect(await work(forgotten, `Replace "${old}" with "${next}" everywhere`, { isForgetful: true })).toEqual(turn);
    expect(forgotten).toEqual(files);
  });

  it('remembers how a sentence ended when its outputs are omitted from a long prompt', async () => {
    const before = { 'a.md': 'x\n'.repeat(2500), 'b.md': 'y\n', 'c.md': 'z\n' };
    const prompt =
      'Append "w" to a.md. Create c.md with "x". Replace "y" with "yy" everywhere. Delete c.md. Append "v" to a.md.';
    const [remembered, forgotten] = [{ ...before }, { ...before }];
    const turn = await work(remembered, prompt);
    expect(await work(forgotten, prompt, { isForgetful: true })).toEqual(turn);
    expect(forgotten).toEqual(remembered);
    expect(remembered).toEqual({ 'a.md': `${'x\n'.repeat(2500)}w\nv\n`, 'b.md': 'yy\n' });
  });

  it('repeats a call that was not run', async () => {
    const runCalls = async () => [{ type: 'error-text', value: 'This call was not run.' } as const];
    const interrupted = startAgent(createOfflineEditor(), {}, { runCalls });
    interrupted.say('Delete a.md');
    const turn: Turn = { title: null, summary: '', batches: [] };
    await interrupted.step(turn);
    await interrupted.step(turn);
    expect(toolsOf(turn)).toEqual([['delete'], ['delete']]);
  });

  it('runs a command alone, and reports how it failed', async () => {
    const asked: string[] = [];
    const runCalls: AgentOptions['runCalls'] = async (calls) =>
      calls.map(({ toolName, input }) => {
        if (toolName === 'run') asked.push(input.command);
        const isFailed = input.command === 'make test';
        return isFailed
          ? { type: 'error-text', value: '[exit code 2]\nno rule' }
          : { type: 'text', value: '[exit code 0]' };
      });
    const turn = await work({}, 'Run "make". Run "make test". Delete a.md', { runCalls });
    expect(asked).toEqual(['make', 'make test']);
    expect(toolsOf(turn)).toEqual([['run'], ['run'], ['delete'], ['finish']]);
    expect(turn.summary).toContain('- Not done: Run "make test": [exit code 2]');
  });

  it('finishes again if finish is refused, and ignores notes of the service', async () => {
    const refusals = [
      { type: 'error-text', value: 'The work is not finished.' } as const,
      { type: 'text', value: 'ok' } as const,
    ];
    const ids: string[] = [];
    const runCalls: AgentOptions['runCalls'] = async (calls) => {
      ids.push(...calls.map(({ toolCallId }) => toolCallId));
      return calls.map(({ toolName }) =>
        toolName === 'finish' ? refusals.shift()! : { type: 'text', value: 'Deleted.' },
      );
    };
    const agent = startAgent(createOfflineEditor(), {}, { runCalls });
    agent.say('Delete a.md');
    agent.say('(Note of the service: When you call finish, a command is run.)');
    const turn: Turn = { title: null, summary: '', batches: [] };
    for (let steps = 0; steps < 3; steps += 1) await agent.step(turn);
    expect(toolsOf(turn)).toEqual([['delete'], ['finish'], ['finish']]);
    expect(new Set(ids).size).toBe(3);
    expect(turn.summary).toBe('- Done: Delete a.md.');
  });

  it('replaces a multiline text everywhere', async () => {
    const files = { 'a.md': 'one\ntwo two\nthree', 'b.md': 'two two' };
    const turn = await work(files, 'Replace "one\\ntwo two" with "1" everywhere');
    expect(files).toEqual({ 'a.md': '1\nthree', 'b.md': 'two two' });
    expect(turn.summary).toContain('In 1 file: a.md');
  });

  it('creates a file with a final newline, and leaves an existing one alone', async () => {
    const files: Files = { 'a.md': 'old\n', 'a.png': '\0' };
    const turn = await work(files, 'Create b/c.md with "new". Create a.md with "x". Create a.png with "x"');
    expect(files).toEqual({ 'a.md': 'old\n', 'a.png': '\0', 'b/c.md': 'new\n' });
    expect(turn.summary).toContain('- Not done: Create a.md: the file exists already.');
    expect(turn.summary).toContain('- Not done: Create a.png: a.png is a binary file (1 KB).');
  });

  it.each([
    ['a\nb\n', 'a\nb\nmore\n'],
    ['a\nb', 'a\nb\nmore'],
    ['', 'more\n'],
    ['x\nx\nx\n', 'x\nx\nx\nmore\n'],
    ['  - a\n  - a\n', '  - a\n  - a\nmore\n'],
    ['}\n'.repeat(5001), `${'}\n'.repeat(5001)}more\n`],
  ])('appends after the last line of a file (case %#)', async (before, after) => {
    const files = { 'a.md': before };
    await work(files, 'Append "more" to a.md');
    expect(files['a.md']).toBe(after);
  });

  it('reports what failed and why, and does the rest', async () => {
    const files = { 'a.md': 'x\n' };
    const turn = await work(
      files,
      'Delete gone.md. Replace "y" with "z" in a.md. Rename no.md to n.md. Append "w" to a.md.',
    );
    expect(files).toEqual({ 'a.md': 'x\nw\n' });
    expect(turn.summary).toContain('- Not done: Delete gone.md: gone.md does not exist.\n');
    expect(turn.summary).toContain('- Not done: Replace "y" with "z" in a.md: The text was not found in a.md.');
    expect(turn.title).toBe('Append "w" to a.md');
  });

  it('changes nothing for an unknown instruction, and shows its grammar', async () => {
    const files = { 'a.md': 'x\n' };
    const turn = await work(files, 'Delete a.md if you like. Please improve the wording.');
    expect(files).toEqual({ 'a.md': 'x\n' });
    expect(toolsOf(turn)).toEqual([['finish']]);
    expect(turn.title).toBe('Nothing done');
    expect(turn.summary).toContain('Delete a.md if you like.');
    expect(turn.summary).toContain('improve the wording.');
    expect(turn.summary).toContain('Rename PATH to PATH');
  });

  it('does only what is new in a second turn', async () => {
    const agent = startAgent(createOfflineEditor(), { 'a.md': 'a\n' });
    agent.say('Append "b" to a.md');
    await agent.run();
    agent.say('Append "b" to a.md');
    const second = await agent.run();
    expect(agent.files['a.md']).toBe('a\nb\nb\n');
    expect(toolsOf(second)).toEqual([['read'], ['edit'], ['finish']]);
  });

  it('completes the rest of a turn and a message that arrives during it', async () => {
    const agent = startAgent(createOfflineEditor(), { 'a.md': 'a\n', 'b.md': 'b\n' });
    agent.say('Append "x" to a.md');
    await agent.step({ title: null, summary: '', batches: [] });
    agent.say('Delete b.md');
    const turn = await agent.run();
    expect(agent.files).toEqual({ 'a.md': 'a\nx\n' });
    expect(turn.title).toBe('Append "x" to a.md and 1 more');
  });

  it('gives every call of a conversation its own id', async () => {
    const agent = startAgent(createOfflineEditor(), { 'a.md': 'a\n', 'b.md': 'a a\n' });
    for (const prompt of ['Append "x" to a.md. Replace "a" with "aa" everywhere', 'Append "x" to a.md', 'Say hello']) {
      agent.say(prompt);
      await agent.run();
    }
    const ids = agent.prompt.flatMap(({ role, content }) => {
      return role === 'assistant'
        ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [];
    });
    expect(ids.length).toBeGreaterThan(8);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id))).toBe(true);
  });

  it('answers in words without tools, and when nothing is left to do', async () => {
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Delete a.md' }] }] as const;
    const { content, finishReason } = await createOfflineEditor().doGenerate({ prompt: [...prompt] as any });
    expect(finishReason.unified).toBe('stop');
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('the tools it needs are not available') }]);
    const agent = startAgent(createOfflineEditor(), {});
    expect((await agent.run()).summary).toContain('There was nothing to do.');
  });

  it('streams the same parts that it generates', async () => {
    const tools = [{ type: 'function', name: 'delete', inputSchema: {} }] as const;
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Delete a.md' }] }] as const;
    const options: any = { prompt, tools };
    const { stream } = await createOfflineEditor().doStream(options);
    const parts = await collect(stream);
    const { content, usage } = await createOfflineEditor().doGenerate(options);
    const text = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
    expect(content).toEqual([{ type: 'text', text }, parts.find(({ type }) => type === 'tool-call')]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' }, usage });
  });
});
