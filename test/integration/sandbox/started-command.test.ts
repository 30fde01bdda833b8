import { describe, expect, it } from 'vitest';
import { startedCommand } from '../../../activities/tools/started-command.ts';
import { accountsWithSandbox, openTestSandbox, processesNamed } from '../../support/sandbox/sandbox.ts';

const { accounts } = await accountsWithSandbox();
const mark = `service-${process.pid}`;
/** A server that counts its starts in HOME, and a script that waits for it. */
const server = `const fs = require('fs'), file = process.env.HOME + '/starts';
  fs.appendFileSync(file, 'x');
  console.log('started');
  require('http').createServer((_, answer) => answer.end('starts: ' + fs.readFileSync(file).length)).listen(8123)`;
const service = `node -e "${server}" ${mark} &\nuntil curl -s localhost:8123 > /dev/null; do sleep 0.05; done`;

describe.runIf(accounts.length > 0).each(accounts)('a command that a script precedes, as %s', (account) => {
  async function open() {
    const sandbox = await openTestSandbox(account);
    const environment = { home: await sandbox.folder('home'), variables: { LEVEL: `it's 3` } };
    return {
      async run(script: string, command: string, { isOwn = true, timeoutMs = 60_000, code = 0 } = {}) {
        const text = startedCommand({ script, isOwn }, { command, timeoutMs });
        return sandbox.output(text, code, { environment, timeoutMs });
      },
      [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
    };
  }

  it('has services beside it, which end with it, start again for the next one and keep what is in HOME', async () => {
    await using scene = await open();
    const printed = await scene.run(service, 'curl -s localhost:8123; echo; wait; jobs; cat /tmp/start.log');
    expect(printed).toBe('starts: 1\nstarted\n');
    expect(await processesNamed(mark)).toEqual([]);
    expect(await scene.run(service, 'curl -s localhost:8123; exit 3', { code: 3 })).toBe('starts: 2');
    expect(await scene.run('true', 'curl -s localhost:8123', { code: 7 })).toBe('');
  });

  it('shares no output and no channel with them', async () => {
    await using scene = await open();
    const look = '(sleep 60; true) & echo noise; echo "$LEVEL"; ls -l /proc/$!/fd';
    const opened = await scene.run(look, 'cat /tmp/start.log');
    expect(opened).toContain(`noise\nit's 3\n`);
    expect(new Set([...opened.matchAll(/ \d+ -> (\S+)/g)].map(([, path]) => path))).toEqual(
      new Set(['/dev/null', '/tmp/start.log']),
    );
  });

  it('does not run if the script fails, and says why', async () => {
    await using scene = await open();
    const failure = await scene.run('echo before; echo "it\'s" >&2; false; echo after', 'touch ran; echo ran', {
      code: 1,
    });
    expect(failure).toBe(
      "The start script of the environment failed with exit code 1, so this command did not run. Its last lines:\nbefore\nit's\n\n",
    );
    expect(await scene.run(`echo 'open`, 'echo ran', { code: 1 })).toContain('unexpected EOF');
    const late = await scene.run('echo busy; sleep 60', 'echo ran', { timeoutMs: 4_000, code: 1 });
    expect(late).toBe(
      'The start script of the environment did not end within 2 s (a service needs & at the end of its line), so this command did not run. Its last lines:\nbusy\n\n',
    );
    expect(await scene.run('true', 'ls ran', { code: 2 })).toContain('No such file');
  });

  it("runs without the script of another product's file once that has failed", async () => {
    await using scene = await open();
    const script = 'echo x >> ~/tries; echo why; exit 4';
    expect(await scene.run(script, 'echo ran', { isOwn: false })).toBe(
      'The start script of the environment failed with exit code 4, so the commands of this job run without it. Its last lines:\nwhy\n\nran\n',
    );
    expect(await scene.run(script, 'cat ~/tries', { isOwn: false })).toBe('x\n');
  });
});
