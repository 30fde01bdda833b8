import { parentPort } from 'node:worker_threads';
import { checkDocuments, type DocumentRange } from './check-documents.ts';

parentPort?.on('message', (range: DocumentRange) => parentPort?.postMessage(checkDocuments(range)));
