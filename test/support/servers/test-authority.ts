import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../temporary-directory.ts';

export interface Certificate {
  key: string;
  cert: string;
}

/** A certificate authority that only the tests trust. */
export interface TestAuthority {
  /** Its own certificate, in PEM. */
  certificate: string;
  /** Issues a certificate for a host, with its key. */
  issue(host: string): Promise<Certificate>;
}

const run = promisify(execFile);

/** Whether this machine can create an authority. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';

/** Creates an authority with the program openssl. */
export async function createTestAuthority(): Promise<TestAuthority> {
  const own = await inFolder(async (folder) => {
    await openssl(folder, `req -x509 ${newKey} -keyout key -out cert -days 2 -subj /CN=Tests`);
    return await pairIn(folder);
  });
  return {
    certificate: own.cert,
    issue: (host) =>
      inFolder(async (folder) => {
        await writeFile(join(folder, 'ca-key'), own.key, { mode: 0o600 });
        await writeFile(join(folder, 'ca'), own.cert);
        await writeFile(join(folder, 'names'), `subjectAltName=DNS:${host}\n`);
        await openssl(folder, `req ${newKey} -keyout key -out request -subj /CN=${host}`);
        await openssl(
          folder,
          'x509 -req -in request -CA ca -CAkey ca-key -set_serial 2 -days 2 -extfile names -out cert',
        );
        return await pairIn(folder);
      }),
  };
}

async function openssl(folder: string, args: string): Promise<void> {
  await run('openssl', args.split(' '), { cwd: folder });
}

async function pairIn(folder: string): Promise<Certificate> {
  const [key, cert] = await Promise.all(['key', 'cert'].map((name) => readFile(join(folder, name), 'utf8')));
  return { key: key!, cert: cert! };
}

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = temporaryDirectory();
  return await work(folder);
}
