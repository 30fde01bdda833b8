import type { LanguageModelV4, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';

type Input = Record<string, any>;
export type Files = Record<string, string>;

const toolNames = [
  'read',
  'write',
  'edit',
  'multi_edit',
  'delete',
  'move',
  'list',
  'glob',
  'grep',
  'todo',
  'run',
  'finish',
];

/** Tools over files in memory that answer like the agent's own. */
function runTool(files: Files, name: string, input: Input): LanguageModelV4ToolResultOutput {
  const ok = (value: string) => ({ type: 'text', value }) as const;
  const error = (value: string) => ({ type: 'error-text', value }) as const;
  const path: string = input.path ?? input.from;
  const missing = error(`${path} does not exist. Use list or glob to see which files exist.`);
  if (name === 'finish') return ok('The work is finished.');
  if (name === 'grep') return ok(grep(files, input.pattern, input.after));
  if (name === 'write') {
    files[path] = input.content;
    return ok('Written.');
  }
  const content = files[path];
  if (content === undefined) return missing;
  if (name === 'read' && content.includes('\0')) return error(`${path} is a binary file (1 KB).`);
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
  if (content === '') return 'file (0 lines)\nThe file is empty.';
  const shown = lines
    .slice(offset - 1, offset - 1 + limit)
    .map((line, index) => `${String(offset + index).padStart(6)}|${line}`);
  const next = offset + shown.length;
  const note = next <= lines.length ? `\n[${lines.length - next + 1} more lines; continue with offset ${next}.]` : '';
  return `file (${lines.length} lines)\n${shown.join('\n')}${note}`;
}

function grep(files: Files, pattern: string, after = ''): string {
  const found = Object.keys(files)
    .sort()
    .filter((path) => path > after && files[path]?.includes(pattern));
  if (found.length === 0) return `No line matches ${pattern}.`;
  const shown = found.slice(0, 20);
  const note = `\n[There are more files. Go on with after ${JSON.stringify(shown.at(-1))}.]`;
  return shown.join('\n') + (found.length > 20 ? note : '');
}

export interface Turn {
  title: string | null;
  summary: string;
  complete?: boolean;
  batches: { toolName: string; input: Input }[][];
}

export interface AgentOptions {
  /** Runs the calls of a step, by default on `files` in memory. */
  runCalls?: (calls: Call[]) => Promise<LanguageModelV4ToolResultOutput[]>;
  /** Omits outputs of earlier steps from the prompt, as in a long one. */
  isForgetful?: boolean;
}

export interface Call {
  toolCallId: string;
  toolName: string;
  input: Input;
}

/** Lets a model work on files until it finishes; keeps the conversation for further turns. */
export function startAgent(model: LanguageModelV4, files: Files, options: AgentOptions = {}) {
  const runCalls =
    options.runCalls ?? (async (calls) => calls.map(({ toolName, input }) => runTool(files, toolName, input)));
  const prompt: LanguageModelV4Prompt = [{ role: 'system', content: 'You edit a repository.' }];
  const tools = toolNames.map((name) => ({ type: 'function', name, inputSchema: { type: 'object' } }) as const);
  function say(text: string) {
    prompt.push({ role: 'user', content: [{ type: 'text', text }] });
  }
  /** One model call and its tools; returns the finished turn, or null while it continues. */
  async function step(turn: Turn): Promise<boolean> {
    const { content } = await model.doGenerate({
      prompt: options.isForgetful === true ? forgetful(prompt) : prompt,
      tools,
    });
    const calls = content.flatMap((part) =>
      part.type === 'tool-call' ? [{ ...part, input: JSON.parse(part.input) }] : [],
    );
    prompt.push({ role: 'assistant', content: [...content.filter((part) => part.type === 'text'), ...calls] });
    if (calls.length === 0) {
      turn.summary = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      return true;
    }
    turn.batches.push(calls.map(({ toolName, input }) => ({ toolName, input })));
    const outputs = await runCalls(calls);
    const results = calls.map(({ toolCallId, toolName }, index) => {
      return { type: 'tool-result', toolCallId, toolName, output: outputs[index]! } as const;
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

/** The prompt without the outputs of all steps but the last three. */
function forgetful(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const recent = prompt.filter(({ role }) => role === 'tool').slice(-3);
  return prompt.map((message) => {
    if (message.role !== 'tool' || recent.includes(message)) return message;
    const content = message.content.map((part) => {
      if (part.type !== 'tool-result' || !('value' in part.output) || String(part.output.value).length < 20)
        return part;
      const value = '[999 characters of an earlier call left out; call the tool again if you need them]';
      return { ...part, output: { ...part.output, value } as LanguageModelV4ToolResultOutput };
    });
    return { ...message, content };
  });
}

/** All parts of a stream. */
export async function collect<Part>(stream: ReadableStream<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
