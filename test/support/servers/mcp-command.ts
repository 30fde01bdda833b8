import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import type { SandboxNetwork } from '../../../activities/sandbox/network.ts';
import type { Commands } from '../../../activities/tools/commands.ts';
import { removeDirectory, temporaryDirectory } from '../temporary-directory.ts';
import { testEngine } from '../sandbox/engine.ts';

export interface TestCommands extends AsyncDisposable {
  commands: Exclude<Commands, null>;
}

const limits = { memoryBytes: 384 << 20, processes: 64, diskBytes: 32 << 20 };

/** Opens the sandbox of this machine as a worker does. */
export async function openTestCommands(network: SandboxNetwork | null = null): Promise<TestCommands> {
  const directory = temporaryDirectory();
  const opened = await openSandbox({ directory, engine: testEngine, limits, network });
  return {
    commands: { ...opened, maxSeconds: 60, directory, hosts: network?.hosts ?? [] },
    [Symbol.asyncDispose]: () => removeDirectory(directory),
  };
}

/** Longest argument of a program. */
const maxWordLength = 120_000;

/**
 * Returns the command of a server that consists of one file and the official SDK. The sandbox of a server contains no
 * files, so both are passed as arguments.
 */
export async function sdkCommand(): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'mcp-stdio-server.ts')],
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'cjs',
  });
  const packed = brotliCompressSync(outputFiles[0]!.contents).toString('base64');
  const unpack =
    'eval(require("zlib").brotliDecompressSync(Buffer.from(process.argv.slice(1).join(""),"base64")).toString())';
  const words = packed.match(new RegExp(`.{1,${maxWordLength}}`, 'g')) ?? [];
  return ['node', '-e', unpack, '--', ...words];
}

/**
 * Returns the command of a server with one read-only tool, `look`, which runs a shell script of a server and returns its
 * output.
 */
export function scriptCommand(script: string): string[] {
  return ['node', '-e', scriptServer, '--', script];
}

/** Program of such a server; its last argument is the script. */
export const scriptServer = `
const { spawnSync } = require('node:child_process');
const tool = { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
  if (method === 'tools/list') say(id, { tools: [tool] });
  if (method !== 'tools/call') return;
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', process.argv.at(-1)]);
  say(id, { content: [{ type: 'text', text: String(stdout) + String(stderr) }] });
});`;
