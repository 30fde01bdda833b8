import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Wire } from '../wire.ts';

const execute = promisify(execFile);
const connects = (port: number) => `
  const socket = require('node:net').connect(${port}, '127.0.0.1', () => process.exit(0));
  socket.on('error', () => process.exit(3));
  setTimeout(() => process.exit(2), 700);`;

/** Throws unless each way to cut a connection loses what is sent over it, and heals: the run would test nothing. */
export async function checkWire(wire: Wire, port: number): Promise<void> {
  const [command = '', ...enter] = wire.enter;
  const pass = async () => {
    const { code } = await execute(command, [...enter, process.execPath, '-e', connects(port)]).then(
      () => ({ code: 0 }),
      (error: { code: number }) => error,
    );
    return code === 0 ? 'passes' : code === 2 ? 'is lost' : 'is refused';
  };
  const expectThat = async (wanted: string, when: string) => {
    const seen = await pass();
    if (seen !== wanted)
      throw new Error(`What is sent over a wire that is ${when} ${seen}; this kernel cannot cut it.`);
  };
  await expectThat('passes', 'whole');
  for (const [when, cut] of [
    ['cut to one port', () => wire.lose(port, 'both')],
    ['without its answers', () => wire.lose(port, 'back')],
    ['unplugged', () => wire.unplug()],
  ] as const) {
    await cut();
    await expectThat('is lost', when);
    await wire.heal();
    await expectThat('passes', 'healed');
  }
}
