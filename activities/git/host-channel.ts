import { fork, type ChildProcess } from 'node:child_process';

/**
 * Forks a small Node process that communicates by messages. It inherits only PATH and the folder of compiled code, without
 * which it starts in twice the time.
 */
export function forkHost(program: string): ChildProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return fork(program, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { PATH, NODE_COMPILE_CACHE },
    execArgv: [],
  });
}

/** Resolves when the message has been sent. Rejects when it cannot be. */
export function sendTo(child: ChildProcess, message: object): Promise<void> {
  return new Promise((resolve, reject) => {
    child.send(message, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** Keeps the worker's process alive while the host is needed; an idle host does not. */
export function hold(child: ChildProcess, isNeeded: boolean): void {
  if (isNeeded) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
