import { execFile } from 'node:child_process';
import { constants, open as openDescriptor } from 'node:fs';
import { open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const descriptorOf = promisify(openDescriptor);

/** A pipe between a command and this process. */
export interface OutputPipe {
  stream: Socket;
  /** The command's end; closed here once it has been handed over. */
  writer: FileHandle;
}

/**
 * Pipes for the output of commands. Node gives a child sockets, which a script cannot open by a name such as `/dev/stderr`; so these
 * are named pipes, each of them used by one command at a time.
 */
export function createOutputPipes(directory: string): { take(): Promise<OutputPipe> } {
  const free: string[] = [];
  let made = 0;

  async function make(): Promise<string> {
    const path = join(directory, `output-${process.pid}-${(made += 1)}`);
    await rm(path, { force: true });
    await execute('mkfifo', ['-m', '666', path]);
    return path;
  }

  return {
    async take() {
      const path = free.pop() ?? (await make());
      const fd = await descriptorOf(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const stream = new Socket({ fd, readable: true, writable: false });
      const writer = await open(path, constants.O_WRONLY);
      stream.on('close', () => free.push(path));
      return { stream, writer };
    },
  };
}

/** Descriptors above `last` that whoever started this process left open, and that each child would get, too. */
export async function inheritedDescriptors(last: number): Promise<number[]> {
  const inherited: number[] = [];
  for (const name of await readdir('/proc/self/fd')) {
    const info = await readFile(`/proc/self/fdinfo/${name}`, 'utf8').catch(() => '');
    const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
    const isClosedOnExec = flags === undefined || (Number.parseInt(flags, 8) & 0o2000000) !== 0;
    if (Number(name) > last && !isClosedOnExec) inherited.push(Number(name));
  }
  return inherited;
}
