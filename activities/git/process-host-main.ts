import { PassThrough } from 'node:stream';
import { createLineScrubber } from '../../lib/redaction/log-line.ts';
import { createRedactor } from '../../lib/redaction/redactor.ts';
import { onUncaught } from '../../lib/redaction/uncaught.ts';
import { runProcess } from './git-process.ts';
import { chunksOf, type HostAnswer, type HostRequest } from './process-messages.ts';

// The process that starts others for a worker. It ends with the worker, and so do all processes that it started.

onUncaught((error) => {
  const entry = { level: 60, process: 'processes', msg: 'The process host failed.', error: String(error) };
  process.stderr.write(`${createLineScrubber(createRedactor([]))(JSON.stringify(entry))}\n`);
});

interface Running {
  stop: AbortController;
  input: PassThrough | null;
}

const running = new Map<number, Running>();

function answer(message: HostAnswer): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, () => resolve());
  });
}

async function run({ id, call, hasInput }: Extract<HostRequest, { type: 'run' }>): Promise<void> {
  const stop = new AbortController();
  const input = hasInput ? new PassThrough() : null;
  running.set(id, { stop, input });
  try {
    const { stdout, ...outcome } = await runProcess({ ...call, stdin: input, signal: stop.signal }, (pid) => {
      void answer({ type: 'start', id, pid });
    });
    for (const { chunk, isLast } of chunksOf(stdout)) {
      await answer(isLast ? { type: 'end', id, outcome, chunk } : { type: 'output', id, chunk });
    }
  } catch (error) {
    await answer({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  } finally {
    running.delete(id);
    if (!process.connected && running.size === 0) process.exit();
  }
}

process.on('message', (request: HostRequest) => {
  if (request.type === 'run') void run(request);
  else if (request.type === 'stop') running.get(request.id)?.stop.abort();
  else {
    const input = running.get(request.id)?.input;
    input?.write(request.chunk);
    if (request.isLast) input?.end();
  }
});
process.on('disconnect', () => {
  for (const { stop } of running.values()) stop.abort();
  if (running.size === 0) process.exit();
});
// signals to the whole group are left to the worker, which may still need git to shut down
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
