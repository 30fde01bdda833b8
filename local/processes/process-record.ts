import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { endProcess, identityOf } from './process-identity.ts';
import { codeOf } from '../start-error.ts';

const recordSchema = z.record(z.string(), z.object({ pid: z.number().int().positive(), identity: z.string() }));
type Entries = z.infer<typeof recordSchema>;

export interface ProcessRecord {
  /** Remembers the process that runs under a name now; null: none. */
  note(name: string, pid: number | null): Promise<void>;
  /** Writes what is noted once more. */
  save(): Promise<void>;
  /** The process id noted under a name by a supervisor that lives or lived. */
  pidOf(name: string): number | null;
  /** Ends what a supervisor that was killed left running. Answers the names of what it ended. */
  endLeftovers(): Promise<string[]>;
}

/**
 * Which processes a home has, in a file, so that the next start can end those of a supervisor that was killed. A process is
 * known by its id and the moment it began: an id that has passed to another process is left alone.
 */
export async function openProcessRecord(file: string): Promise<ProcessRecord> {
  const entries = await readEntries(file);
  let writing = Promise.resolve();

  function save(): Promise<void> {
    const write = async () => {
      await writeFile(`${file}.new`, JSON.stringify(entries), { mode: 0o600 });
      await rename(`${file}.new`, file);
    };
    // one that failed, as on a full disk, does not stop the next
    writing = writing.then(write, write);
    return writing;
  }

  return {
    async note(name, pid) {
      const identity = pid === null ? null : await identityOf(pid);
      if (pid === null || identity === null) delete entries[name];
      else entries[name] = { pid, identity };
      await save();
    },
    save,
    pidOf: (name) => entries[name]?.pid ?? null,
    async endLeftovers() {
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
    // a power cut may leave half a record: those processes are gone, too
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError) return {};
    throw error;
  }
}
