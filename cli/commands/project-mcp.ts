import { Option, type Command } from 'commander';
import type { paths } from '../../dashboard/http/schema.d.ts';
import { CommandError } from '../command-error.ts';
import { answerOf } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { collect, readSecretPath, textOf } from './options.ts';
import { printList } from './output.ts';
import { onProject } from './project-of.ts';

type Servers = paths['/v1/projects/{id}/mcp-servers']['patch']['requestBody']['content']['application/json']['servers'];
type Api = Awaited<ReturnType<typeof connect>>['api'];

interface AddOptions {
  tool?: string[];
  readOnly?: 'annotated' | 'all' | 'none';
  headers?: string;
  env?: string;
}

/** Adds `docket project mcp add|remove|list`. */
export function addMcpCommands(project: Command, context: CommandContext): void {
  const group = project.command('mcp').description('MCP servers that the agents of a project may use');

  onProject(group.command('list').description('list the servers')).action(
    async (id: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      print(command, await serversOf(api, id));
    },
  );

  onProject(group.command('add').description('add a server, or replace the one with this name'))
    .argument('<name>', 'the name, with which the names of its tools begin')
    .argument('<url-or-command...>', 'the URL for streamable HTTP; or --, a program and its arguments')
    .option('--tool <name>', 'a tool that agents may call (repeatable; default: all)', collect)
    .addOption(
      new Option('--read-only <which>', 'which calls may be repeated').choices(['annotated', 'all', 'none'] as const),
    )
    .option('--headers <file>', 'headers to send, one "Name: value" per line, such as Authorization', readSecretPath)
    .option('--env <file>', 'environment variables of the command, one NAME=value per line', readSecretPath)
    .action(async (id: string, name: string, words: string[], options: AddOptions, command: Command) => {
      const { api } = await connect(context, command);
      const { tool, readOnly, headers, env } = options;
      const others = (await serversOf(api, id)).filter((server) => server.name !== name);
      const added = {
        name,
        ...targetOf(words),
        tools: tool ?? null,
        readOnly,
        ...(headers !== undefined && { headers: valuesIn(await textOf(headers), headerLine) }),
        ...(env !== undefined && { env: valuesIn(await textOf(env), variableLine) }),
      };
      print(command, await change(api, id, [...others.map(withoutValues), added]));
    });

  onProject(group.command('remove').description('remove a server with its headers or environment variables'))
    .argument('<name>', 'the name of the server')
    .action(async (id: string, name: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const servers = await serversOf(api, id);
      const others = servers.filter((server) => server.name !== name);
      if (others.length === servers.length) throw new CommandError(`The project has no server named ${name}.`);
      print(command, await change(api, id, others.map(withoutValues)));
    });
}

type Shown = Awaited<ReturnType<typeof serversOf>>[number];

async function serversOf(api: Api, id: string) {
  return (await answerOf(api.GET('/v1/projects/{id}/mcp-servers', { params: { path: { id } } }))).servers;
}

async function change(api: Api, id: string, servers: Servers): Promise<Shown[]> {
  const request = api.PATCH('/v1/projects/{id}/mcp-servers', { params: { path: { id } }, body: { servers } });
  return (await answerOf(request)).servers;
}

/** The service keeps the headers and environment variables of a server if they are omitted. */
function withoutValues({ name, url, command, tools, readOnly }: Shown): Servers[number] {
  return { name, url, command, tools, readOnly };
}

function targetOf(words: string[]): Pick<Servers[number], 'url' | 'command'> {
  const [first = ''] = words;
  return words.length === 1 && /^[a-z]+:\/\//i.test(first) ? { url: first } : { command: words };
}

const headerLine = { separator: ':', problem: 'A line of the headers is not "Name: value".' };
const variableLine = { separator: '=', problem: 'A line of the environment variables is not NAME=value.' };

function valuesIn(text: string, { separator, problem }: typeof headerLine) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const at = line.indexOf(separator);
    if (at < 1) throw new CommandError(problem);
    return { name: line.slice(0, at).trim(), value: line.slice(at + 1).trim() };
  });
}

function print(command: Command, servers: Shown[]): void {
  printList(command, servers, {
    name: (server) => server.name,
    'url or command': (server) => server.url ?? server.command?.join(' '),
    tools: (server) => server.tools?.join(' ') ?? 'all',
    'read-only': (server) => server.readOnly,
    'headers or env': (server) => [...server.headerNames, ...server.envNames].join(' '),
  });
}
