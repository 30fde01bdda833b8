import type { ProcessCall, ProcessOutcome } from './git-process.ts';

/** A message from the worker to its process host. Chunks of input follow `run`, in order. */
export type HostRequest =
  | { type: 'run'; id: number; call: Omit<ProcessCall, 'stdin' | 'signal'>; hasInput: boolean }
  | { type: 'input'; id: number; chunk: Uint8Array; isLast: boolean }
  | { type: 'stop'; id: number };

/** A message from the process host: the process group, then chunks of the output in order, then the end. */
export type HostAnswer =
  | { type: 'start'; id: number; pid: number }
  | { type: 'output'; id: number; chunk: Uint8Array }
  | { type: 'end'; id: number; outcome: Omit<ProcessOutcome, 'stdout'>; chunk: Uint8Array }
  | { type: 'failed'; id: number; message: string };

const chunkBytes = 1024 * 1024;

/** Splits bytes into chunks that fit into a message. Yields at least one chunk. */
export function* chunksOf(bytes: Uint8Array): Generator<{ chunk: Uint8Array; isLast: boolean }> {
  let from = 0;
  do {
    const to = Math.min(from + chunkBytes, bytes.length);
    yield { chunk: bytes.subarray(from, to), isLast: to === bytes.length };
    from = to;
  } while (from < bytes.length);
}
