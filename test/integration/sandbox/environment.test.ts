import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountsWithSandbox, openTestSandbox, processesNamed, testLimits } from '../../support/sandbox/sandbox.ts';

const { accounts } = await accountsWithSandbox();
const network = { hosts: ['localhost:4873', 'registry.test'], privateHosts: ['localhost:4873'] };

describe.runIf(accounts.length > 0).each(accounts)("a command's environment, as %s", (account) => {
  it('has a HOME that keeps what commands write, and that Java and others find in /etc/passwd', async () => {
    await using sandbox = await openTestSandbox(account);
    const environment = { home: await sandbox.folder('home') };
    await sandbox.output('mkdir -p ~/.cache && echo kept > ~/.cache/file', 0, { environment });
    const again = await sandbox.output('cat $HOME/.cache/file; cut -d: -f6 /etc/passwd | tail -1; echo $HOME', 0, {
      environment,
    });
    expect(again).toBe('kept\n/home/job\n/home/job\n');
    expect(await sandbox.output('ls -A ~ ~job; echo $HOME')).toContain('/tmp');
  });

  it('has mounts, of which the read-only ones cannot be written', async () => {
    await using sandbox = await openTestSandbox(account);
    const [given, taken] = [await sandbox.folder('given'), await sandbox.folder('taken')];
    const mounts = [
      { source: given, target: '/mnt/given', isReadOnly: true },
      { source: taken, target: '/mnt/taken', isReadOnly: false },
    ];
    await sandbox.output('echo out > /mnt/taken/file; ! touch /mnt/given/file', 0, { environment: { mounts } });
    expect(await readFile(join(taken, 'file'), 'utf8')).toBe('out\n');
    await sandbox.output('! ls /mnt/taken /mnt/given');
  });

  it('has variables, which no argument list contains, and folders before its PATH', async () => {
    await using sandbox = await openTestSandbox(account);
    const secret = `it's "a $ecret" ${process.pid}\nof two lines`;
    const environment = { variables: { TOKEN: secret, NODE_OPTIONS: '--broken' }, path: ['/home/job/bin'] };
    const running = sandbox.run(
      'touch began; while [ ! -e go ]; do sleep 0.05; done; printf %s "$TOKEN"; echo "|$PATH"',
      {
        environment,
      },
    );
    while ((await readFile(join(sandbox.tree, 'began')).catch(() => null)) === null);
    expect(await processesNamed(`$ecret" ${process.pid}`)).toEqual([]);
    await sandbox.output('touch go');
    const { output, exitCode } = await running;
    expect(exitCode).toBe(0);
    const text = Buffer.concat([output.head, output.tail]).toString();
    expect(text.startsWith(`${secret}|/home/job/bin:`)).toBe(true);
    expect(await sandbox.output('echo "[$TOKEN]"')).toBe('[]\n');
  });

  it("reaches its own hosts only, and none that the sandbox's network lacks", async () => {
    await using sandbox = await openTestSandbox(account, { network });
    const ask = 'curl -sS -o /dev/null -w "%{http_code}" http://registry.test/; echo " $HTTP_PROXY"';
    const offline = await sandbox.run(ask, { environment: { hosts: [] } });
    expect(Buffer.concat([offline.output.head, offline.output.tail]).toString()).toMatch(/^000 $|resolve|000 \n/m);
    const other = await sandbox.output(ask, 0, { environment: { hosts: ['localhost:4873', 'elsewhere.test'] } });
    expect(other).toContain('403 http://127.0.0.1:3128');
    const elsewhere = await sandbox.output(ask.replace('registry', 'elsewhere'), 0, {
      environment: { hosts: ['elsewhere.test'] },
    });
    expect(elsewhere).toMatch(/000 $/m);
  });

  it('has its own limits of memory and disk, the total of all commands among them', { tags: ['slow'] }, async () => {
    await using sandbox = await openTestSandbox(account);
    const home = await sandbox.folder('home');
    const fill = (megabytes: number, to: string) => `head -c ${megabytes}M /dev/urandom > ${to}; sleep 1.5`;
    const limits = { ...testLimits, diskBytes: 64 << 20, totalBytes: 80 << 20, memoryBytes: 256 << 20 };
    expect(await sandbox.run(fill(48, '~/a'), { environment: { home, limits } })).toMatchObject({ exitCode: 0 });
    expect(await sandbox.run(fill(40, 'b'), { environment: { home, limits } })).toMatchObject({ stopped: 'disk' });
    expect(await sandbox.run(fill(40, '~/c'), { environment: { home } })).toMatchObject({ exitCode: null });
    const hold = (ms: number) =>
      `node -e 'const b = []; for (let i = 0; i < 30; i++) b.push(Buffer.alloc(10 << 20, 1)); setTimeout(() => {}, ${ms})'`;
    const small = { ...testLimits, memoryBytes: 192 << 20 };
    expect(await sandbox.run(hold(50_000), { environment: { limits: small } })).toMatchObject({ stopped: 'memory' });
    expect(await sandbox.run(hold(500))).toMatchObject({ exitCode: 0 });
  });
});
