import { statSync } from 'node:fs';
import { join } from 'node:path';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { openVectorWriter } from '../../../../search/build/vectors.ts';
import { readPages } from '../../../../search/read/read-pages.ts';
import type { SourceFile } from '../../../../search/read/source-file.ts';
import type { SearchRequest } from '../../../../search/query/search-request.ts';
import { openSiteIndex } from '../../../../search/query/site-index.ts';
import { answerParent } from '../support/answer-parent.ts';
import { createRandom, generateSite } from '../support/generate-pages.ts';
import { quantile } from '../support/report.ts';

export interface SearchInput {
  pages: number;
  /** An empty folder. */
  directory: string;
  /** Time per search. */
  seconds: number;
}

export interface SearchResult {
  sourceBytes: number;
  chunks: number;
  readSeconds: number;
  buildSeconds: number;
  buildCpuSeconds: number;
  indexBytes: number;
  changeSeconds: number;
  byWords: SearchTimes;
  /** The same questions by words and by meaning. */
  withVectors: SearchTimes;
}

interface SearchTimes {
  searches: number;
  p50: number;
  p95: number;
  cpuMs: number;
}

const differentQuestions = 1_000;
const limit = 10;
const dimensions = 1_536;
const batch = 1_000;

/** Reads, builds, changes one page, and searches. */
async function measure({ pages, directory, seconds }: SearchInput): Promise<SearchResult> {
  const { files, questions, bytes } = generateSite(pages, differentQuestions);
  const file = join(directory, `${pages}.sqlite`);
  const reading = performance.now();
  const read = await readPages(files);
  const building = performance.now();
  const buildCpu = process.cpuUsage();
  const built = buildIndex(read, { file });
  const hasBuilt = performance.now();
  const builtCpu = process.cpuUsage(buildCpu);

  const changed = join(directory, `${pages}-changed.sqlite`);
  const withChange = await readPages(files.map((one, position) => (position === 7 ? changedFile(one) : one)));
  const changing = performance.now();
  buildIndex(withChange, { file: changed, previousFile: file });
  const changeSeconds = (performance.now() - changing) / 1_000;

  const byWords = searchAll(file, { seconds, requests: questions.map((query) => ({ query, limit })) });
  const indexBytes = statSync(file).size;
  const random = createRandom(1);
  const vector = () => Array.from({ length: dimensions }, () => random() - 0.5);
  addVectors(file, vector);
  const requests = questions.map((query) => ({ query, limit, vector: vector() }));
  return {
    sourceBytes: bytes,
    chunks: built.chunks,
    readSeconds: (building - reading) / 1_000,
    buildSeconds: (hasBuilt - building) / 1_000,
    buildCpuSeconds: (builtCpu.user + builtCpu.system) / 1e6,
    indexBytes,
    changeSeconds,
    byWords,
    withVectors: searchAll(file, { seconds, requests }),
  };
}

function searchAll(file: string, { seconds, requests }: { seconds: number; requests: SearchRequest[] }): SearchTimes {
  using opened = openSiteIndex(file);
  const index = opened.as('all');
  const times: number[] = [];
  for (const request of requests.slice(0, 50)) index.search(request);
  const cpu = process.cpuUsage();
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    const from = performance.now();
    index.search(requests[times.length % requests.length]!);
    times.push(performance.now() - from);
  }
  const { user, system } = process.cpuUsage(cpu);
  return {
    searches: times.length,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    cpuMs: (user + system) / 1_000 / times.length,
  };
}

/** Gives every passage a vector. Directions at random are nearest by chance, which costs a search the same. */
function addVectors(file: string, vector: () => number[]): void {
  using writer = openVectorWriter(file, { model: 'bench/vectors' });
  for (let at = 0; at < writer.missing.length; at += batch) {
    const passages = writer.missing.slice(at, at + batch);
    writer.add(passages, passages.map(vector));
  }
}

function changedFile({ path, read }: SourceFile): SourceFile {
  return { path, read: () => `${read()}\n## What is new\n\nA paragraph that was not there.\n` };
}

answerParent({ measure });
