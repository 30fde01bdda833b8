import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { DocumentRange } from './check-documents.ts';

const documentsOfARange = 500;

/**
 * Checks generated answers of the assistant on all cores. The published text of a broken document leads to known
 * addresses only, in every Markdown reader, and a document with known addresses keeps them. Prints its figures and
 * returns the number of problems.
 */
export async function runLinkFuzz({ count, seed }: { count: number; seed: number }): Promise<number> {
  console.log(`fuzz: documents: ${count}, seed: ${seed}`);
  const startedMs = Date.now();
  const problems: string[] = [];
  let next = 0;
  async function work(): Promise<void> {
    const worker = new Worker(new URL('link-worker.ts', import.meta.url));
    while (next < count) {
      const range = { first: next, count: Math.min(documentsOfARange, count - next), seed };
      next += range.count;
      const { promise, resolve, reject } = Promise.withResolvers<string[]>();
      worker.once('message', resolve).once('error', reject);
      worker.postMessage(range satisfies DocumentRange);
      problems.push(...(await promise));
      worker.removeAllListeners('message').removeAllListeners('error');
    }
    await worker.terminate();
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const seconds = (Date.now() - startedMs) / 1_000;
  console.log(`time        ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(0)} documents a second`);
  for (const problem of problems) console.log(`violation: ${problem}`);
  console.log(`violations: ${problems.length} (aim: 0; seed ${seed})`);
  return problems.length;
}
