import type { LanguageModelV4, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';

type Input = Record<string, any>;
export type Files = Record<string, string>;

const toolNames = ['read', 'write', 'edit', 'multi_edit', 'delete', 'move', 'list', 'glob', 'grep', 'todo', 'finish'];

/** Tools over files in memory that answer as the agent's own do. */
function runTool(files: Files, name: string, input: Input): LanguageModelV4ToolResultOutput {
  const ok = (value: string) => ({ type: 'text', value }) as const;
  const error = (value: string) => ({ type: 'error-text', value }) as const;
  const path: string = input.path ?? input.from;
  const missing = error(`${path} does not exist.\nUse glob to find it.`);
  if (name === 'finish') return ok('Finished.');
  if (name === 'grep') return ok(grep(files, input.pattern));
  if (name === 'write') {
    files[path] = input.content;
    return ok('Written.');
  }
  const content = files[path];
  if (content === undefined) return missing;
  if (name === 'read') return ok(read(content, input.offset ?? 1, input.limit ?? 2000));
  if (name === 'delete') {
    delete files[path];
    return ok('Deleted.');
  }
  if (name === 'move') {
    if (files[input.to] !== undefined) return error(`${input.to} exists already.`);
    files[input.to] = content;
    delete files[path];
    return ok('Moved.');
  }
  const count = content.split(input.old).length - 1;
  if (count === 0) return error(`The text was not found in ${path}.`);
  if (count > 1 && input.replaceAll !== true) return error(`The text was found ${count} times in ${path}.`);
  files[path] = content.split(input.old).join(input.new);
  return ok('Edited.');
}

function read(content: string, offset: number, limit: number): string {
  const lines = content.replace(/\n$/, '').split('\n');
  if (content === '') return '[The file is empty.]';
  const shown = lines
    .slice(offset - 1, offset - 1 + limit)
    .map((line, index) => `${String(offset + index).padStart(6)}|${line}`);
  const next = offset + shown.length;
  return next <= lines.length
    ? `${shown.join('\n')}\n[More lines follow: read on with offset ${next}.]`
    : shown.join('\n');
}

function grep(files: Files, pattern: string): string {
  const hits = Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, content]) => {
      const lines = content.split('\n').map((line, index) => ({ line, number: index + 1 }));
      return lines
        .filter(({ line }) => line.includes(pattern))
        .slice(0, 10)
        .map(({ line, number }) => `${path}:${number}:${line.slice(0, 200)}`);
    });
  if (hits.length === 0) return 'Nothing found.';
  return hits.slice(0, 100).join('\n');
}

export interface Turn {
  title: string | null;
  summary: string;
  batches: { toolName: string; input: Input }[][];
}

/** Lets a model work on files in memory until it finishes; keeps the conversation for further turns. */
export function startAgent(model: LanguageModelV4, files: Files) {
  const prompt: LanguageModelV4Prompt = [{ role: 'system', content: 'You edit a repository.' }];
  const tools = toolNames.map((name) => ({ type: 'function', name, inputSchema: { type: 'object' } }) as const);
  function say(text: string) {
    prompt.push({ role: 'user', content: [{ type: 'text', text }] });
  }
  /** One model call and its tools; the finished turn, or null while it goes on. */
  async function step(turn: Turn): Promise<boolean> {
    const { content } = await model.doGenerate({ prompt, tools });
    const calls = content.flatMap((part) =>
      part.type === 'tool-call' ? [{ ...part, input: JSON.parse(part.input) }] : [],
    );
    prompt.push({ role: 'assistant', content: [...content.filter((part) => part.type === 'text'), ...calls] });
    if (calls.length === 0) {
      turn.summary = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      return true;
    }
    turn.batches.push(calls.map(({ toolName, input }) => ({ toolName, input })));
    const results = calls.map(({ toolCallId, toolName, input }) => {
      return { type: 'tool-result', toolCallId, toolName, output: runTool(files, toolName, input) } as const;
    });
    prompt.push({ role: 'tool', content: results });
    const finish = calls.find(({ toolName }) => toolName === 'finish');
    if (finish !== undefined) Object.assign(turn, finish.input);
    return finish !== undefined;
  }
  async function run(): Promise<Turn> {
    const turn: Turn = { title: null, summary: '', batches: [] };
    for (let steps = 0; steps < 200; steps += 1) if (await step(turn)) return turn;
    throw new Error('The model does not come to an end.');
  }
  return { files, prompt, say, step, run };
}
