import { describe, expect, it } from 'vitest';
import { cleanOutput, headAndTail } from '../../../../activities/tools/clean-output.ts';
import { createRunTool, describeEnd } from '../../../../activities/tools/run-tool.ts';
import { maxOutputBytes } from '../../../../activities/tools/tool-output.ts';
import type { CommandEnd } from '../../../../activities/sandbox/running-command.ts';

const signal = new AbortController().signal;
const clean = (text: string) => cleanOutput(Buffer.from(text));
const endOf = (text: string, end: Partial<CommandEnd> = {}): CommandEnd => ({
  exitCode: 0,
  stopped: null,
  durationMs: 1_234,
  notes: [],
  output: { head: Buffer.from(text), tail: Buffer.alloc(0), omitted: 0 },
  ...end,
});

describe('cleanOutput', () => {
  it.each([
    ['colours and cursor moves', '\u001b[1;31mred\u001b[0m \u001b[2K\u001b[10;20Hplain', 'red plain'],
    [
      'titles, links and other strings',
      '\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\u001b]8;;\u001b\\\u001bPq\u001b\\c',
      'abc',
    ],
    ['the forms of one byte', '\u009b31mred\u009d0;t\u009cdone', 'reddone'],
    ['a lone escape', 'a\u001b(Bb\u001b', 'ab'],
    ['a progress bar', '10%\r50%\r100%\ndone\r\n', '100%\ndone\n'],
    ['backspaces', 'abc\b\bX', 'aX'],
    ['NUL, bell and form feed', 'a\0b\u0007c\fd\te', 'abcd\te'],
    ['text that turns round', 'a\u202eb\u2066c', 'a<U+202E>b<U+2066>c'],
  ])('takes out %s', (_what, given, shown) => {
    expect(clean(given)).toBe(shown);
  });

  it('keeps letters of every script, and marks bytes that are not UTF-8', () => {
    expect(clean('Größe 灯 🪔')).toBe('Größe 灯 🪔');
    expect(cleanOutput(Buffer.from([0x61, 0xff, 0xfe, 0xc3, 0x28, 0x62]))).toBe('a\ufffd\ufffd\ufffd(b');
  });

  it('takes no longer for hostile output', () => {
    expect(clean('\u001b['.repeat(100_000))).toBe('');
    expect(clean(`\u001b]${'x'.repeat(300_000)}`).length).toBeLessThan(300_000);
  });
});

it('keeps the beginning and end of a long output, cut between lines', () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}`).join('\n');
  const text = headAndTail(lines, { headLength: 100, tailLength: 100 });
  expect(text).toMatch(/^line 0\n[^]*line 1\d\n\[… \d+ characters omitted …\]\nline 9\d\d\n[^]*line 999$/);
  expect(headAndTail('short', { headLength: 100, tailLength: 100 })).toBe('short');
});

describe('run', () => {
  const tool = createRunTool({ maxSeconds: 60 });
  const run = (end: CommandEnd | null, input: object = { command: 'npm test' }) =>
    tool.run(input, { root: '/nowhere', signal, runCommand: async () => end });

  it('returns the exit code and the output, the same each time', async () => {
    expect(await run(endOf('all well\n'))).toEqual({ text: '[exit code 0]\nall well', isError: false });
    expect(await run(endOf('', { exitCode: 1 }))).toEqual({ text: '[exit code 1]\n(no output)', isError: true });
    expect(describeEnd(endOf('', { exitCode: 137 }))).toContain('signal 9');
    const notes = ['The network does not lead to evil.test:443: commands reach npm.test only.'];
    expect(describeEnd(endOf('no route\n', { exitCode: 1, notes }))).toBe(`[exit code 1]\nno route\n[${notes[0]}]`);
  });

  it('reports why a command was stopped', async () => {
    const answer = await run(endOf('begun', { exitCode: null, stopped: 'timeout' }));
    expect(answer).toEqual({ text: '[Stopped: time limit exceeded, after 1.2 s]\nbegun', isError: true });
  });

  it('fits a huge output into the limit of a call', async () => {
    const output = { head: Buffer.alloc(262_144, 'ä'), tail: Buffer.alloc(262_144, 'z'), omitted: 10 ** 9 };
    const { text } = await run(endOf('', { output }));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxOutputBytes);
    expect(text).toMatch(/ä\n\[… the middle of \d+ bytes omitted …\]\nz/);
  });

  it('cuts a huge output between lines, so that a secret in it is masked or left out', async () => {
    const line = 'password: 3-blue-lamps-and-a-hat\n';
    const part = Buffer.from(line.repeat(8_000));
    const { text } = await run(endOf('', { output: { head: part, tail: part, omitted: 10 ** 9 } }));
    expect(new Set(text.split('\n').slice(1))).toEqual(
      new Set([line.trimEnd(), expect.stringContaining('bytes omitted')]),
    );
  });

  it('suggests another call when the time of the batch is used up', async () => {
    expect(await run(null)).toMatchObject({ isError: true });
    expect(await run(endOf(''), { command: 'a\0b' })).toMatchObject({ isError: true });
  });
});
