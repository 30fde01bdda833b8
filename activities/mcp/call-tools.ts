import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { ProjectToolReader } from '../../db/for-worker/projects/project-tools.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { takenOver } from '../attempt.ts';
import type { CallServer, ToolOutput } from '../tools/agent-tool.ts';
import { cutToBytes, fenced, maxOutputBytes, sizeText } from '../tools/tool-output.ts';
import { McpProblem, McpRefusal } from './mcp-problem.ts';
import type { McpAccess, McpSession } from './mcp-session.ts';
import type { PinnedTool } from './pinned-tools.ts';
import type { ServerJob } from './server-process.ts';
import { secretsOfValues } from './server-values.ts';
import { hashOfTool } from './tool-hash.ts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { printable } from '../tools/history/printable.ts';

export interface CallToolsDeps extends McpAccess {
  effects: Pick<EffectStore, 'claim' | 'storeResult'>;
  toolServers: ProjectToolReader;
  secrets: KnownSecrets;
}

/** Calls tools of MCP servers for the batch of a step. */
export interface ToolCaller extends AsyncDisposable {
  call: CallServer;
}

/** Timeout of all calls of a batch, which must end before its activity times out. */
const batchMs = 4 * 60_000;
const maxCallMs = 60_000;
const minMs = 1_000;
type Mask = (text: string) => string;

const maxRefusalLength = 2_000;
const callSchema = z.object({ output: z.object({ text: z.string(), isError: z.boolean() }).nullable() });
const unknownOutcome: ToolOutput = {
  text: 'This call was sent, but its result was lost, so it is unknown whether it took effect. It was not repeated. Check first.',
  isError: true,
};

/** Creates the caller of a batch. Servers are connected or started when they are needed, and end with the batch. */
export function createToolCaller(
  { effects, toolServers, secrets, ...access }: CallToolsDeps,
  { ref, job, signal }: { ref: StepRef; job: ServerJob; signal: AbortSignal },
): ToolCaller {
  const endAt = Date.now() + batchMs;
  const sessions = new Map<string, Promise<McpSession>>();

  async function connect(name: string): Promise<McpSession> {
    const { servers, credentials } = await toolServers.read(job.project.id);
    const server = servers.find((one) => one.name === name);
    if (server === undefined) throw new McpProblem('is no longer a server of the project');
    const values = [...(credentials[name] ?? [])];
    secrets.learn(job.project.id, secretsOfValues(values));
    // calls end before the server
    const lifeMs = Math.max(minMs, endAt - Date.now()) + minMs;
    // most jobs have no servers, and a worker that starts should not load the protocol
    const { openMcpSession } = await import('./mcp-session.ts');
    return openMcpSession(access, { job, server, values, lifeMs, signal });
  }

  /** A server that could not be reached is not called again in this batch. */
  function sessionOf(name: string): Promise<McpSession> {
    const known = sessions.get(name);
    if (known !== undefined) return known;
    const opened = connect(name);
    opened.catch(() => undefined);
    sessions.set(name, opened);
    return opened;
  }

  async function ask(pinned: PinnedTool, input: Record<string, unknown>): Promise<ToolOutput> {
    const { server, tool, hash } = pinned;
    try {
      if (endAt - Date.now() < minMs) throw new McpProblem('was not called: the time for calls of this answer is over');
      const session = await sessionOf(server);
      const today = session.tools.get(tool);
      if (today === undefined || hashOfTool(today) !== hash)
        throw new McpProblem('has changed this tool since the turn began, so it was not called');
      const result = await session.call(tool, input, Math.max(minMs, Math.min(maxCallMs, endAt - Date.now())));
      return { text: resultText(server, result, secrets.mask), isError: result.isError === true };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof McpRefusal) return { text: refusalOf(server, error, secrets.mask), isError: true };
      if (!(error instanceof McpProblem)) throw error;
      return { text: `The MCP server ${server} ${error.message}.`, isError: true };
    }
  }

  /** A call is stored before it is sent: if its result is lost, its effect is unknown. */
  async function askOnce(pinned: PinnedTool, input: Record<string, unknown>, callId: string): Promise<ToolOutput> {
    const { jobId, turn, step } = ref;
    const id = createHash('sha256').update(callId).digest('hex').slice(0, 16);
    const effect = { jobId, turn, effect: `mcp:${step}:${id}` };
    const { fence, result } = await effects.claim(effect);
    const earlier = callSchema.safeParse(result).data;
    if (earlier !== undefined) return earlier.output ?? unknownOutcome;
    if (!(await effects.storeResult({ ...effect, fence, result: { output: null } }))) throw takenOver();
    const output = await ask(pinned, input);
    const masked = { ...output, text: secrets.mask(output.text) };
    await effects.storeResult({ ...effect, fence, result: { output: masked } });
    return masked;
  }

  return {
    call: (pinned, input, callId) => (pinned.isReadOnly ? ask(pinned, input) : askOnce(pinned, input, callId)),
    async [Symbol.asyncDispose]() {
      const opened = await Promise.allSettled(sessions.values());
      await Promise.all(opened.map((one) => (one.status === 'fulfilled' ? one.value[Symbol.asyncDispose]() : null)));
    },
  };
}

function refusalOf(server: string, { code, message }: McpRefusal, mask: Mask): string {
  const text = cutToBytes(mask(message.slice(0, 2 * maxOutputBytes).toWellFormed()), maxRefusalLength);
  return `The call was refused (${code}).\n${fenced(`the MCP server ${server}`, text)}`;
}

const maxItems = 200;
const noteBytes = 2_048;

/**
 * Returns a server's result as text: its texts, masked before they are cut, within a fence that they cannot close, and notes
 * on the rest.
 */
function resultText(server: string, { content, structuredContent }: CallToolResult, mask: Mask): string {
  const texts: string[] = [];
  const notes: string[] = [];
  for (const item of content.slice(0, maxItems)) {
    if (item.type === 'text') texts.push(item.text);
    else if (item.type === 'resource' && 'text' in item.resource) texts.push(item.resource.text);
    else if (item.type === 'resource_link') texts.push(`${item.name}: ${item.uri}`);
    else notes.push(omitted(item));
  }
  if (content.length > maxItems) notes.unshift(`${content.length - maxItems} more items omitted`);
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  const whole = texts.join('\n').toWellFormed().replaceAll('\0', '\ufffd');
  const kept = printable(mask(whole.slice(0, 2 * maxOutputBytes)), maxOutputBytes - noteBytes);
  const bytes = Buffer.byteLength(whole);
  if (bytes > maxOutputBytes - noteBytes) notes.unshift(`the text is cut here; it has ${bytes} bytes`);
  return [
    fenced(`the MCP server ${server}`, kept === '' ? '(no text)' : kept),
    ...notes.slice(0, 20).map((note) => `[${note}]`),
  ].join('\n');
}

function omitted(item: Exclude<CallToolResult['content'][number], { type: 'text' | 'resource_link' }>): string {
  if (item.type === 'resource') return `a file without text omitted`;
  return `an ${item.type} of ${sizeText(Math.floor((item.data.length * 3) / 4))} omitted`;
}
