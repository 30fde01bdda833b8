import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';

export type { History } from '@temporalio/common/lib/proto-utils.js';

const { History: HistoryMessage } = proto.temporal.api.history.v1;
const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** A stored history: a fifth of its JSON form before compression. */
export async function packHistory(history: History): Promise<Buffer> {
  return compress(HistoryMessage.encode(history).finish());
}

/** Temporal ends an execution whose history exceeds 50 MB. */
const maxHistoryBytes = 64 * 1024 * 1024;

/** Unpacks the result of `packHistory`. */
export async function unpackHistory(stored: Uint8Array): Promise<History> {
  return HistoryMessage.decode(await decompress(stored, { maxOutputLength: maxHistoryBytes }));
}

/** Returns the JSON that Temporal's command line, its UI and the SDKs' replayers read. */
export async function historyAsJson(stored: Uint8Array): Promise<string> {
  return historyToJSON(await unpackHistory(stored));
}
