import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { endProcess, identityOf } from './process-identity.ts';
import { codeOf } from '../../lib/error-code.ts';

const recordSchema = z.record(z.string(), z.object({ pid: z.number().int().positive(), identity: z.string() }));
type Entries = z.infer<typeof recordSchema>;

export type ProcessRecord = Awaited<ReturnType<typeof openProcessRecord>>;

/**
 * Records the processes of a home in a file, so that the next start can end those of a killed supervisor. A process is
 * identified by its id and start time: an id that was reused by another process is left alone.
 */
export async function openProcessRecord(file: string) {
  const entries = await readEntries(file);
  let writing = Promise.resolve();

  /** Writes the record again. */
  function save(): Promise<void> {
    const write = async () => {
      await writeFile(`${file}.new`, JSON.stringify(entries), { mode: 0o600 });
      await rename(`${file}.new`, file);
    };
    // a failed write, for example on a full disk, does not block the next one
    writing = writing.then(write, write);
    return writing;
  }

  return {
    /** Records the process that currently runs under a name; null when none does. */
    async note(name: string, pid: number | null): Promise<void> {
      const identity = pid === null ? null : await identityOf(pid);
      if (pid === null || identity === null) delete entries[name];
      else entries[name] = { pid, identity };
      await save();
    },
    save,
    /** Returns the process id that this or an earlier supervisor recorded under a name. */
    pidOf: (name: string): number | null => entries[name]?.pid ?? null,
    /** Ends the processes that a killed supervisor left running. Returns their names. */
    async endLeftovers(): Promise<string[]> {
      const ended: string[] = [];
      await Promise.all(
        Object.entries(entries).map(async ([name, { pid, identity }]) => {
          if ((await identityOf(pid)) === identity) {
            await endProcess(pid, { signal: name === 'postgres' ? 'SIGINT' : 'SIGTERM', timeoutMs: 4_000, identity });
            ended.push(name);
          }
          delete entries[name];
        }),
      );
      await save();
      return ended;
    },
  };
}

async function readEntries(file: string): Promise<Entries> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    // a power failure may leave a partial record, but those processes are gone, too
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError) return {};
    throw error;
  }
}
