import { join } from 'node:path';
import { sendSignal } from '../../../../local/processes/process-identity.ts';
import { openLogFile } from '../../../../local/processes/log-file.ts';
import { openProcessRecord } from '../../../../local/processes/process-record.ts';
import type { SupervisorHooks } from '../../../../local/processes/supervised-process.ts';

/** One process of a run that is killed and restarted at once, as an orchestrator without backoff does it. */
export interface Member {
  name: string;
  pid(): number | null;
  /** Sends SIGKILL; null if it is just starting. `back` resolves when a new process serves. */
  kill(): { pid: number; back: Promise<void> } | null;
  /** Suspends the process without its noticing; `resume` lets it continue. */
  pause(): void;
  resume(): void;
  /** Resolves when the next start of the process serves. */
  nextStart(): Promise<void>;
  /** How often it was restarted. */
  starts(): number;
  hooks: SupervisorHooks;
}

export interface Members extends Disposable {
  add(name: string): Member;
  all(): Member[];
}

const restartMs = 50;

/** The processes of a run: their ids are kept in a file, so that what a killed run left is ended; each has a log file. */
export async function openMembers(home: string): Promise<Members> {
  const record = await openProcessRecord(join(home, 'processes.json'));
  const members: Member[] = [];
  const files: Disposable[] = [];
  return {
    add(name) {
      const file = openLogFile(join(home, `${name}.log`));
      files.push(file);
      const member = createMember(name, {
        onLine: (line) => file.write(line),
        onPid: (pid) => record.note(name, pid),
      });
      members.push(member);
      return member;
    },
    all: () => members,
    [Symbol.dispose]() {
      for (const file of files) file[Symbol.dispose]();
    },
  };
}

function createMember(
  name: string,
  notes: { onLine(line: string): void; onPid(pid: number | null): Promise<void> },
): Member {
  let pid: number | null = null;
  let count = 0;
  let waiting: (() => void)[] = [];
  const nextStart = () => new Promise<void>((resolve) => waiting.push(resolve));
  return {
    name,
    pid: () => pid,
    starts: () => count,
    nextStart,
    kill() {
      const victim = pid;
      if (victim === null || !sendSignal(victim, 'SIGKILL')) return null;
      return { pid: victim, back: nextStart() };
    },
    pause: () => void (pid !== null && sendSignal(pid, 'SIGSTOP')),
    resume: () => void (pid !== null && sendSignal(pid, 'SIGCONT')),
    hooks: {
      backOffMs: restartMs,
      maxBackOffMs: restartMs,
      onLine: notes.onLine,
      async onPid(now) {
        pid = now;
        await notes.onPid(now);
      },
      log(line) {
        notes.onLine(line);
        if (!line.endsWith(' runs again')) return;
        count += 1;
        for (const wake of waiting) wake();
        waiting = [];
      },
    },
  };
}
