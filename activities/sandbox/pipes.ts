import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, open as openDescriptor } from 'node:fs';
import { open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const descriptorOf = promisify(openDescriptor);
const madeAtOnce = 16;

/** A pipe from a command to this process. */
export interface OutputPipe {
  stream: Socket;
  /** The command's end; closed in this process once it has been handed over. */
  writer: FileHandle;
}

/**
 * `output`: for a command. `report`: for bubblewrap, which can write to it even when this process has died; if it ended
 * then, the process that it was about to let start would wait for it forever.
 */
export type PipeUse = 'output' | 'report';

/**
 * Creates pipes for the output of commands. Node gives a child sockets, which a script cannot open by a name such as
 * `/dev/stderr`, so these are named pipes. Each serves a single command, which may change its mode, and loses its name
 * once it is open.
 */
export function createOutputPipes(directory: string): { take(use: PipeUse): Promise<OutputPipe> } {
  const ready: string[] = [];

  async function makeSome(): Promise<void> {
    const paths = Array.from({ length: madeAtOnce }, () => join(directory, `output-${randomUUID()}`));
    await execute('mkfifo', ['-m', '666', ...paths]);
    ready.push(...paths);
  }

  async function nextPath(): Promise<string> {
    for (;;) {
      const path = ready.pop();
      if (path !== undefined) return path;
      await makeSome();
    }
  }

  return {
    async take(use) {
      const path = await nextPath();
      const fd = await descriptorOf(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const stream = new Socket({ fd, readable: true, writable: false });
      const writer = await open(path, use === 'output' ? constants.O_WRONLY : constants.O_RDWR);
      await rm(path);
      return { stream, writer };
    },
  };
}

/** Returns descriptors above `last` that this process inherited and that each child would inherit, too. */
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
