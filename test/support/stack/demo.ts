import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { localJsonSchema, type LocalJson } from '../../../local/local-json.ts';
import { identityOf } from '../../../local/processes/process-identity.ts';
import { createTestHome, removeTestHome } from './stack.ts';

const checkout = resolve(import.meta.dirname, '../../..');

/** Starts the program of `npm run demo` in a new home; its output can be awaited. */
export async function runDemo() {
  const home = await createTestHome();
  await mkdir(join(home, 'demo'), { recursive: true });
  const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...inherited } = process.env;
  const env = { ...inherited, DOCKET_HOME: home };
  const child = spawn(process.execPath, [join(checkout, 'local/demo.ts')], { env, cwd: checkout });
  let output = '';
  let onOutput = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput();
    });
  }
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  return {
    child,
    ended,
    output: () => output,
    /** Also resolves when the demo ends without this output. */
    async said(text: string): Promise<void> {
      const seen = new Promise<void>((done) => {
        onOutput = () => {
          if (output.includes(text)) done();
        };
        onOutput();
      });
      await Promise.race([seen, ended]);
    },
    async readLocalJson(): Promise<LocalJson> {
      return localJsonSchema.parse(JSON.parse(await readFile(join(home, 'demo/local.json'), 'utf8')));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await removeTestHome(join(home, 'demo'));
      await rm(dirname(home), { recursive: true, force: true });
    },
  };
}

export async function livingOf({ pids }: LocalJson): Promise<string[]> {
  const named = Object.entries(pids).filter(([, pid]) => pid !== null);
  const identities = await Promise.all(
    named.map(async ([name, pid]) => ((await identityOf(pid!)) === null ? [] : [name])),
  );
  return identities.flat();
}
