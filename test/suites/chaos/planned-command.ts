import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startReceiver } from '../../integration/webhooks/receiver.ts';
import type { Member } from './servers/members.ts';
import { plannedServer } from './plans/special-plans.ts';

/** The MCP server that special plans call, as a command. */
export interface PlannedCommand extends AsyncDisposable {
  command: string[];
  /** `host:port` that it sends to; commands have to reach it. */
  host: string;
  /** Calls that were sent, as a server over HTTP records them. */
  calls(): { name: string; input: Record<string, unknown> }[];
  /** Returns a worker with processes of the server, and their pids; null while there is none. */
  findRunning(workers: Iterable<Member>): Promise<{ worker: Member; pids: number[] } | null>;
  /** Returns its processes that have not ended after a grace period, among these or all. */
  leftRunning(pids?: readonly number[]): Promise<number[]>;
}

const { name, look, send, seen } = plannedServer;
/** A call takes a moment, so that kills come in the middle of one. */
const program = `
const { execFile } = require('node:child_process');
const [url] = process.argv.slice(-2);
const inputSchema = { type: 'object' };
const tools = [{ name: '${look}', inputSchema, annotations: { readOnlyHint: true } }, { name: '${send}', inputSchema }];
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const { protocolVersion, name, arguments: input } = params ?? {};
  if (method === 'initialize')
    say(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: '${name}', version: '1' } });
  if (method === 'tools/list') say(id, { tools });
  if (method !== 'tools/call') return;
  const end = (text) => setTimeout(() => say(id, { content: [{ type: 'text', text }] }), 400);
  if (name === '${look}') return end('${seen}');
  const args = ['--silent', '--show-error', '--fail', '--noproxy', '', '--data', JSON.stringify(input), url];
  execFile('curl', args, (error) => end(error === null ? 'Sent.' : String(error)));
});`;

const patienceMs = 30_000;
const pollMs = 50;

/** Prepares the command, and starts what its calls reach. */
export async function startPlannedCommand(): Promise<PlannedCommand> {
  const receiver = await startReceiver();
  const mark = `planned-command-of-${process.pid}`;
  // commands reach no address, only names
  const host = receiver.host.replace('127.0.0.1', 'localhost');

  /** A process of the server has its mark as the last argument; the sandbox around it has the mark in one. */
  async function running(): Promise<number[]> {
    const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
    const lines = await Promise.all(pids.map((pid) => textOf(pid, 'cmdline')));
    return pids.flatMap((pid, index) => (lines[index]!.includes(mark) ? [Number(pid)] : []));
  }

  return {
    command: ['node', '-e', program, '--', `http://${host}/`, mark],
    host,
    calls: () => receiver.received.map(({ body }) => ({ name: send, input: body })),
    async findRunning(workers) {
      const found = await running();
      const owners = await Promise.all(found.map(ancestorsOf));
      for (const worker of workers) {
        const pids = found.filter((_, index) => owners[index]!.includes(worker.pid() ?? 0));
        if (pids.length > 0) return { worker, pids };
      }
      return null;
    },
    async leftRunning(pids) {
      const deadline = Date.now() + patienceMs;
      for (;;) {
        const left = (await running()).filter((pid) => pids?.includes(pid) !== false);
        if (left.length === 0 || Date.now() > deadline) return left;
        await delay(pollMs);
      }
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}

/** Returns the pids of the processes above one. */
async function ancestorsOf(pid: number): Promise<number[]> {
  const stat = await textOf(String(pid), 'stat');
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
  return parent > 1 ? [parent, ...(await ancestorsOf(parent))] : [];
}

const textOf = (pid: string, file: string) => readFile(join('/proc', pid, file), 'utf8').catch(() => '');
