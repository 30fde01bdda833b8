import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readBundle, writeBundle } from '../../../../db/jobs/bundle-file.ts';
import type { BundleRecord } from '../../../../db/jobs/bundle-schema.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

async function inFolder<Value>(use: (file: string) => Promise<Value>): Promise<Value> {
  const folder = temporaryDirectory();
  return await use(join(folder, 'job.docket.gz'));
}

async function piecesOf(file: string): Promise<BundleRecord[]> {
  const pieces: BundleRecord[] = [];
  for await (const piece of readBundle(file)) pieces.push(piece);
  return pieces;
}

it('reads what was written, with long and unusual lines', () =>
  inFolder(async (file) => {
    const pieces: BundleRecord[] = ['\n', 'ä'.repeat(100_000), '\u0001'.repeat(2_000_000), ''].map((patch) => ({
      piece: 'snapshot',
      tree: 't',
      commit: 'c',
      baseCommit: 'b',
      patch,
      changedFiles: 1,
      isRemoved: false,
    }));
    await writeBundle(Readable.from(pieces.map((piece) => JSON.stringify(piece))), createWriteStream(file));
    expect(await piecesOf(file)).toEqual(pieces);
  }));

it('reads every kind of note', () =>
  inFolder(async (file) => {
    const kinds = ['nudge', 'calls-left', 'last-call', 'overruled', 'check', 'no-commands', 'call-finish'] as const;
    const pieces: BundleRecord[] = [...kinds, 'guidance:src/AGENTS.md' as const].map((kind) => ({
      piece: 'note',
      turn: 1,
      step: 1,
      kind,
      text: 'Note.',
    }));
    await writeBundle(Readable.from(pieces.map((piece) => JSON.stringify(piece))), createWriteStream(file));
    expect(await piecesOf(file)).toEqual(pieces);
  }));

it('stops at a line that no bundle contains, however small the file is', () =>
  inFolder(async (file) => {
    const part = gzipSync(Buffer.alloc(16 * 1024 * 1024, '0'));
    const head = gzipSync('{"format":"docket-job-bundle","version":1}\n');
    await writeFile(file, [head, ...Array.from({ length: 10 }, () => part)]);
    await expect(piecesOf(file)).rejects.toThrow('The file is not a job bundle.');
  }));
