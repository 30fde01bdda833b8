import { statSync } from 'node:fs';
import { join } from 'node:path';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { openVectorWriter } from '../../../../search/build/vectors.ts';
import { readPages } from '../../../../search/read/read-pages.ts';
import type { SourceFile } from '../../../../search/read/source-file.ts';
import type { SearchRequest } from '../../../../search/query/search-request.ts';
import { openSiteIndex } from '../../../../search/query/site-index.ts';
import { unitOf } from '../../../../search/query/vector.ts';
import { answerParent } from '../support/answer-parent.ts';
import { generateSite } from '../support/generate-pages.ts';
import { generateVectors, type GeneratedVectors } from '../support/generate-vectors.ts';
import { quantile } from '../support/report.ts';
import { measureRecall, type RecallResult } from './vector-recall.ts';

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
  recall: RecallResult;
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
/** Questions for which all vectors are compared. */
const comparedQuestions = 100;

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
  const vectors = generateVectors(dimensions);
  const floats = addVectors(file, vectors);
  const answers = [...floats.values()];
  const step = answers.length / questions.length;
  const requests = questions.map((query, at) => {
    const passage = answers[Math.floor(at * step)] ?? new Float32Array();
    return { query, limit, vector: vectors.ofQuestion([...passage]) };
  });
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
    recall: measureRecall(file, {
      floats,
      questions: requests.slice(0, comparedQuestions).map(({ vector }) => vector),
    }),
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

/** Gives every passage a vector, and returns them by chunk, with a length of 1. */
function addVectors(file: string, { ofPassage }: GeneratedVectors): Map<number, Float32Array> {
  using writer = openVectorWriter(file, { model: 'bench/vectors' });
  const floats = new Map<number, Float32Array>();
  for (let at = 0; at < writer.missing.length; at += batch) {
    const passages = writer.missing.slice(at, at + batch);
    const vectors = passages.map(({ text }) => ofPassage(text));
    writer.add(passages, vectors);
    for (const [at, { chunk }] of passages.entries())
      floats.set(chunk, unitOf(vectors[at] ?? []) ?? new Float32Array());
  }
  return floats;
}

function changedFile({ path, read }: SourceFile): SourceFile {
  return { path, read: () => `${read()}\n## What is new\n\nA paragraph that was not there.\n` };
}

answerParent({ measure });
