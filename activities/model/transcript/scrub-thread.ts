import { parentPort, workerData } from 'node:worker_threads';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { scrub, type AnswerToScrub } from './scrub-answer.ts';

/** Redacts an answer in a separate thread. */
const { answer, secrets }: { answer: AnswerToScrub; secrets: readonly string[] } = workerData;
parentPort?.postMessage(scrub(answer, createKnownSecrets(secrets)));
