import { join } from 'node:path';
import { emptyHome } from '../home.ts';
import type { Home } from '../home.ts';
import type { ChildName, LocalJson } from '../local-json.ts';
import { openLogFile } from './log-file.ts';
import { shownLine } from './log-lines.ts';
import { openProcessRecord } from './process-record.ts';
import { messageOf } from '../start-error.ts';
import type { SupervisorHooks } from './supervised-process.ts';
import { untilSuccess } from './until-success.ts';

const names = ['api', 'worker', 'postgres', 'temporal'] as const;

export interface ChildrenOptions {
  home: Home;
  log(line: string): void;
  signal: AbortSignal;
  /** Starts with an empty home. */
  isFresh: boolean;
}

/** The four processes of a home, with their ids and log files. */
export type StackChildren = Awaited<ReturnType<typeof openChildren>>;

/** Ends the processes that an earlier supervisor left running on the home, and records those that this one starts. */
export async function openChildren({ home, log, signal, isFresh }: ChildrenOptions) {
  const record = await openProcessRecord(join(home.directory, 'processes.json'));
  const leftovers = await record.endLeftovers();
  if (leftovers.length > 0) log(`Stopped processes left over from an earlier start: ${leftovers.sort().join(', ')}`);
  if (isFresh) await emptyHome(home);
  const files = new Map(names.map((name) => [name, openLogFile(join(home.logs, `${name}.log`))]));
  let write: () => Promise<void> = () => Promise.resolve();
  let writing = Promise.resolve();
  const writeInTurn = () => (writing = writing.then(write, write));
  const ended = new AbortController();
  let isBehind = false;

  /** Records a process id. A full disk must not prevent a restart: the record is written once there is space again. */
  async function note(name: ChildName, pid: number | null): Promise<void> {
    try {
      await record.note(name, pid);
      await writeInTurn();
    } catch (error) {
      if (isBehind) return;
      log(`The ids of the processes cannot be written: ${messageOf(error)}`);
      isBehind = true;
      void untilSuccess(() => record.save().then(writeInTurn), ended.signal).then(
        () => (isBehind = false),
        () => undefined,
      );
    }
  }
  return {
    hooksOf(name: ChildName): SupervisorHooks {
      const isService = name === 'api' || name === 'worker';
      return {
        log,
        signal,
        onLine(line) {
          files.get(name)?.write(line);
          const shown = isService ? shownLine(name, line) : null;
          if (shown !== null) log(shown);
        },
        onPid: (pid) => note(name, pid),
      };
    },
    pids: (): LocalJson['pids'] => ({
      api: record.pidOf('api'),
      worker: record.pidOf('worker'),
      postgres: record.pidOf('postgres'),
      temporal: record.pidOf('temporal'),
    }),
    /** Calls `write` now and after each change of a process id. */
    async onChange(writer: () => Promise<void>): Promise<void> {
      write = writer;
      await writeInTurn();
    },
    [Symbol.dispose]() {
      ended.abort();
      for (const file of files.values()) file[Symbol.dispose]();
    },
  };
}
