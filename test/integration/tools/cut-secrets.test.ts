import { it } from 'vitest';
import type { ToolContext } from '../../../activities/tools/agent-tool.ts';
import { defineTool } from '../../../activities/tools/define-tool.ts';
import { fetchTool } from '../../../activities/tools/fetch/fetch-tool.ts';
import { historyTools } from '../../../activities/tools/history/history-tools.ts';
import { createRunTool } from '../../../activities/tools/run-tool.ts';
import type { CommitHistory } from '../../../activities/workspaces/commit-history.ts';
import { createKnownScrubber } from '../../../lib/redaction/known-scrubber.ts';
import { expectNoPart } from '../../support/cut-secrets.ts';
import { createTree } from './tree.ts';
import { z } from 'zod';

const { signal } = new AbortController();
const plain = z.object({});

const inLines = (text: string) => `x${text.replaceAll('.', '\n')}`;

/** Tools that answer with a text. Pages and git's output are cut between lines. */
const tools: Record<string, (text: string, context: ToolContext) => Promise<{ text: string }>> = {
  'a tool': (text, context) =>
    defineTool({ description: '', inputSchema: plain, isReadOnly: true, run: async () => text }).run({}, context),
  fetch: (text, context) =>
    fetchTool.run({ url: 'https://a.test/' }, { ...context, fetchPage: async (url) => ({ url, text: inLines(text) }) }),
  run(text, context) {
    const output = { head: Buffer.from(text), tail: Buffer.alloc(0), omitted: 0 };
    const end = { exitCode: 0, stopped: null, durationMs: 1, notes: [], output };
    return createRunTool({ maxSeconds: 60 }).run({ command: 'cat a' }, { ...context, runCommand: async () => end });
  },
  history(text, context) {
    const history = {
      find: async () => 'c',
      currentTree: async () => 't',
      async print(_args: readonly string[], most: number) {
        const stdout = Buffer.from(inLines(text));
        return { exitCode: 0, stdout: stdout.subarray(0, most), truncated: stdout.length > most };
      },
    } as unknown as CommitHistory;
    return historyTools.diff.run({ from: 'HEAD' }, { ...context, history });
  },
  read: inFile('read', { path: 'a' }),
  grep: inFile('grep', { pattern: '#' }),
  'an edit': inFile('edit', { path: 'a', old: '#', new: '%' }),
  'an edit that fails': inFile('edit', { path: 'a', old: `# ${'k7Q'.repeat(9)}`, new: '%' }),
};

/** Runs a tool on a file whose only line has a `#` between two secrets. An edit of a longer one would start a thread. */
function inFile(tool: string, input: unknown): (typeof tools)[string] {
  return async (text, context) => {
    const half = text.indexOf('..', tool === 'read' ? text.length / 2 : 5_000) + 1;
    await using tree = await createTree({ a: `${text.slice(0, half)}#${text.slice(half, 2 * half)}\n` });
    return await tree.run(tool, input, context);
  };
}

it.each(Object.keys(tools))('shows no part of a secret that the output of %s is cut in', async (name) => {
  await expectNoPart(async (text, secret) => {
    const maskSecrets = createKnownScrubber([secret]);
    const output = await tools[name]!(text, { root: '/', signal, maskSecrets });
    return maskSecrets(output.text);
  });
});
