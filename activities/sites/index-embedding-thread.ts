import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { embedMany } from 'ai';
import { prefixed, embeddingName } from '../../lib/inputs/embedding-choice.ts';
import { createModelRegistry } from '../../models/registry.ts';
import { openVectorWriter, type PassageText } from '../../search/build/vectors.ts';
import type { EmbeddingResult, EmbeddingTask } from './index-embedding.ts';

/** Passages of one call: their vectors fit the longest response of a provider. */
const passagesPerCall = 32;
const callsAtOnce = 4;
const maxCallMs = 60_000;
/** Limits of one run; the next one continues. 200,000 passages are at most 100 million tokens. */
const maxRunMs = 15 * 60_000;
const maxPassages = 200_000;

const { file, previousFile, settings, ...choice }: EmbeddingTask = workerData;
const name = embeddingName(choice);

async function embedPassages(): Promise<EmbeddingResult> {
  const deadline = Date.now() + maxRunMs;
  using writer = openVectorWriter(file, { model: name, previousFile });
  const { missing } = writer;
  const known = writer.count();
  let problem: string | null = missing.length > maxPassages ? 'The site has more passages than one run embeds.' : null;
  try {
    const embedding = createModelRegistry(settings).embeddingModel(choice.model);
    const embed = async (passages: PassageText[]) => {
      const values = passages.map(({ text }) => prefixed(choice.passagePrefix, text));
      const abortSignal = AbortSignal.timeout(maxCallMs);
      const { embeddings } = await embedMany({ model: embedding, values, maxRetries: 2, abortSignal });
      writer.add(passages, embeddings);
    };
    const wanted = missing.slice(0, maxPassages);
    for (let at = 0; at < wanted.length; at += passagesPerCall * callsAtOnce) {
      if (Date.now() > deadline) throw new Error('The embedding model is too slow for all passages in one run.');
      const calls = Array.from({ length: callsAtOnce }, (_, call) => at + call * passagesPerCall)
        .map((start) => wanted.slice(start, start + passagesPerCall))
        .filter((passages) => passages.length > 0);
      const results = await Promise.allSettled(calls.map(embed));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
  } catch (error) {
    problem = error instanceof Error ? error.message.slice(0, 10_000) : 'The embedding model failed.';
  }
  const passages = writer.count();
  const hash = createHash('sha256').update(`${name} ${passages}`).digest('hex').slice(0, 16);
  return { model: choice.model, passages, of: known + missing.length, problem, hash };
}

void embedPassages().then((result) => parentPort?.postMessage(result));
