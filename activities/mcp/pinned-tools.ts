import type { JSONSchema7 } from '@ai-sdk/provider';
import { z } from 'zod';
import type { ProjectToolReader } from '../../db/for-worker/projects/project-tools.ts';
import type { McpServer } from '../../db/organizations/project-tools.ts';
import { maskDeep, type KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import { McpProblem } from './mcp-problem.ts';
import type { McpAccess, ServerTool, SessionRequest } from './mcp-session.ts';
import type { ServerJob } from './server-process.ts';
import { secretsOfValues } from './server-values.ts';
import { hashOfTool } from './tool-hash.ts';
import { toolSchema } from './tool-schema.ts';

/** A tool of an MCP server as it was when a turn began. */
export type PinnedTool = z.infer<typeof pinnedToolSchema>;

const jsonSchema = z.custom<JSONSchema7>((value) => typeof value === 'object' && value !== null);

export const pinnedToolSchema = z.object({
  server: z.string(),
  /** Name on the server. */
  tool: z.string(),
  /** Name for the model. */
  name: z.string(),
  description: z.string(),
  inputSchema: jsonSchema,
  isReadOnly: z.boolean(),
  /** Hash of what the server says about it. */
  hash: z.string(),
});

/** A server that cannot be used in a turn, or not completely, and why. */
export interface ServerNotice {
  server: string;
  problem: string;
  /** Last output of a server that runs as a command, for people. */
  detail?: string;
}

export interface PinnedTools {
  tools: PinnedTool[];
  notices: ServerNotice[];
}

export interface PinDeps extends McpAccess {
  toolServers: ProjectToolReader;
  secrets: KnownSecrets;
}

const maxTools = 128;
/** Longest definitions of all tools together, in characters: the model reads them in every call. */
const maxCharacters = 200_000;
const maxDescriptionLength = 2_000;
/** Longest part of a tool's name in a notice. */
const maxNameLength = 64;
const openTimeoutMs = 20_000;
/** For a server that runs as a command, which may download its program first. */
const startTimeoutMs = 90_000;
const nameForModels = /^[A-Za-z0-9_-]{1,64}$/;

/** Lists the tools of a project's servers. A server that cannot be used is a notice. */
export async function pinTools(
  { toolServers, secrets, ...access }: PinDeps,
  { job, signal }: { job: ServerJob; signal: AbortSignal },
): Promise<PinnedTools> {
  const { servers, credentials } = await toolServers.read(job.project.id);
  const pinned: PinnedTools = { tools: [], notices: [] };
  const listed = await Promise.all(
    servers.map(async (server) => {
      const values = [...(credentials[server.name] ?? [])];
      secrets.learn(job.project.id, secretsOfValues(values));
      const lifeMs = server.url === null ? startTimeoutMs : openTimeoutMs;
      return toolsOf(access, { job, server, values, lifeMs, signal });
    }),
  );
  let characters = 0;
  for (const [at, server] of servers.entries()) {
    const { tools, problems, detail = '' } = listed[at] ?? { tools: [], problems: [] };
    const notice = [...problems];
    for (const tool of tools) {
      const masked = { ...tool, ...maskedTexts(tool, secrets.mask) };
      characters += JSON.stringify(masked).length;
      if (characters <= maxCharacters && pinned.tools.length < maxTools) pinned.tools.push(masked);
      else notice.push(`${tool.tool} is left out, because the tools of all servers are too many`);
    }
    if (notice.length === 0) continue;
    pinned.notices.push({
      server: server.name,
      problem: secrets.mask(listOf(notice)),
      ...(detail !== '' && { detail: shownDetail(secrets.redact(detail)) }),
    });
  }
  return pinned;
}

interface ListedTools {
  tools: PinnedTool[];
  problems: string[];
  detail?: string;
}

async function toolsOf(access: McpAccess, request: SessionRequest): Promise<ListedTools> {
  const { server, lifeMs, signal } = request;
  const until = AbortSignal.timeout(lifeMs);
  try {
    // most jobs have no servers, and a worker that starts should not load the protocol
    const { openMcpSession } = await import('./mcp-session.ts');
    await using session = await openMcpSession(access, { ...request, signal: AbortSignal.any([signal, until]) });
    const listed = pinnedOf(server, session.tools);
    // the agent has not used it yet; a server whose packages cannot be kept downloads them again
    await session.endAndKeep().catch(() => undefined);
    signal.throwIfAborted();
    return listed;
  } catch (error) {
    signal.throwIfAborted();
    if (until.aborted) return { tools: [], problems: [`did not answer within ${lifeMs / 1_000} seconds`] };
    if (!(error instanceof McpProblem)) return { tools: [], problems: ['did not list its tools'] };
    return { tools: [], problems: [error.message], detail: error.detail };
  }
}

function pinnedOf(server: McpServer, tools: ReadonlyMap<string, ServerTool>): ListedTools {
  const found: ListedTools = { tools: [], problems: [] };
  const names = server.tools ?? [...tools.keys()];
  for (const name of names) {
    const tool = tools.get(name);
    try {
      if (tool === undefined) found.problems.push(`has no tool named ${name}`);
      else found.tools.push(pinnedTool(server, tool, (problem) => found.problems.push(called(problem, name))));
    } catch (error) {
      if (!(error instanceof McpProblem)) throw error;
      found.problems.push(called(error.message, name));
    }
  }
  found.tools.sort((a, b) => (a.name < b.name ? -1 : 1));
  return found;
}

/** Adds the name of a tool to a problem, unless it cannot be shown. */
function called(problem: string, name: string): string {
  return /^[!-~][ -~]*$/.test(name) ? `${problem}: ${name.slice(0, maxNameLength)}` : problem;
}

function pinnedTool(
  { name: server, readOnly }: McpServer,
  tool: ServerTool,
  report: (problem: string) => void,
): PinnedTool {
  const { name: own, description = '', annotations } = tool;
  const name = `${server}__${own}`;
  if (!nameForModels.test(name)) throw new McpProblem('has a tool with a name that models cannot call');
  const { inputSchema, isPartial } = toolSchema(tool.inputSchema);
  if (isPartial) report('has a tool that is offered without its fields with unusual names');
  const isAnnotated = annotations?.readOnlyHint === true;
  return {
    server,
    tool: own,
    name,
    description,
    inputSchema,
    isReadOnly: readOnly === 'all' || (readOnly === 'annotated' && isAnnotated),
    hash: hashOfTool(tool),
  };
}

function maskedTexts({ description, inputSchema }: PinnedTool, mask: (text: string) => string) {
  const text = mask(description).slice(0, maxDescriptionLength).toWellFormed();
  return { description: text, inputSchema: jsonSchema.parse(maskDeep(inputSchema, mask)) };
}

const maxDetailLength = 500;

/** Cut once it is redacted, because half a secret is not recognized. */
function shownDetail(detail: string): string {
  return detail.slice(-maxDetailLength).trim().toWellFormed();
}

const maxListed = 5;

function listOf(problems: string[]): string {
  const different = [...new Set(problems)];
  const more = different.length - maxListed;
  return [...different.slice(0, maxListed), ...(more > 0 ? [`and ${more} more problems`] : [])].join('; ');
}
