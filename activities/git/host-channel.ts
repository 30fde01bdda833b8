import { fork, type ChildProcess } from 'node:child_process';

/** Begins a small process of this worker's program that is spoken to in messages; it has no variable but those given. */
export function forkHost(program: string, env: NodeJS.ProcessEnv): ChildProcess {
  return fork(program, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env,
    execArgv: [],
  });
}

/** Resolves when the message is handed over. Errors: whatever keeps it from the process. */
export function sendTo(child: ChildProcess, message: object): Promise<void> {
  return new Promise((resolve, reject) => {
    child.send(message, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** An idle host does not keep its worker from ending. */
export function hold(child: ChildProcess, isNeeded: boolean): void {
  if (isNeeded) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
