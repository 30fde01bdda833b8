import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { bundleRecordSchema, type BundleRecord } from './bundle-schema.ts';
import { codeOf } from '../../lib/error-code.ts';

/** The file is not a bundle, or it is damaged; the message says which. */
export class BundleFileError extends Error {
  override name = 'BundleFileError';
}

const format = 'docket-job-bundle';
const version = 1;
const largeLine = 100_000;
const cutOff = 'The bundle is truncated. Download it again.';
const headSchema = z.object({ format: z.literal(format), version: z.number() });
const endSchema = z.object({ pieces: z.number() });

/** Writes the records of a job, each as JSON, as a bundle: gzip of lines, between a head and an end. Ends the target. */
export async function writeBundle(records: AsyncIterable<string>, target: NodeJS.WritableStream): Promise<void> {
  await pipeline(Readable.from(linesOf(records)), createGzip(), target);
}

async function* linesOf(records: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${JSON.stringify({ format, version })}\n`;
  let count = 0;
  for await (const record of records) {
    count += 1;
    if (record.length <= largeLine) {
      yield `${record}\n`;
      continue;
    }
    // several large records in a row would block the event loop; so would a copy of one to append a line break
    await nextTurn();
    yield record;
    yield '\n';
  }
  yield `${JSON.stringify({ pieces: count })}\n`;
}

/** Reads a bundle. Errors: BundleFileError, and those of the file system. */
export async function* readBundle(path: string): AsyncGenerator<BundleRecord> {
  let count = 0;
  let isFirst = true;
  for await (const line of linesIn(path)) {
    const json = parseLine(line);
    if (isFirst) checkHead(json);
    else if (endSchema.safeParse(json).data?.pieces === count) return;
    else {
      count += 1;
      yield recordOf(json);
    }
    isFirst = false;
  }
  throw new BundleFileError(isFirst ? 'The file is not a job bundle.' : cutOff);
}

/** Bytes. A bundle has megabytes, and each chunk is a round trip to a thread. */
const chunkSize = 256 * 1024;

/** A patch has at most 5 MB, or 20 MB in older versions, and its JSON up to six times as much. */
const maxLineLength = 150_000_000;

async function* linesIn(path: string): AsyncGenerator<string> {
  const unpacked = createGunzip({ chunkSize });
  const file = createReadStream(path).on('error', (error) => unpacked.destroy(error));
  let rest = '';
  try {
    for await (const text of file.pipe(unpacked).setEncoding('utf8')) {
      const [end = '', ...lines] = text.split('\n');
      rest += end;
      if (rest.length > maxLineLength) throw new BundleFileError('The file is not a job bundle.');
      for (const line of lines) {
        yield rest;
        rest = line;
      }
    }
  } catch (error) {
    throw fileErrorOf(error);
  } finally {
    file.destroy();
  }
}

function fileErrorOf(error: unknown): unknown {
  const code = codeOf(error) ?? '';
  if (code === 'Z_BUF_ERROR') return new BundleFileError(cutOff, { cause: error });
  return code.startsWith('Z_') ? new BundleFileError('The file is not a job bundle.', { cause: error }) : error;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function checkHead(json: unknown): void {
  const head = headSchema.safeParse(json);
  if (!head.success) throw new BundleFileError('The file is not a job bundle.');
  if (head.data.version > version)
    throw new BundleFileError('The bundle was made by a newer version of Docket. Use that version to read it.');
}

function recordOf(json: unknown): BundleRecord {
  const parsed = bundleRecordSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new BundleFileError('The bundle contains something that this version of Docket cannot read.', {
    cause: parsed.error,
  });
}
