import { statSync } from 'node:fs';
import { join } from 'node:path';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { readPages } from '../../../../search/read/read-pages.ts';
import type { SourceFile } from '../../../../search/read/source-file.ts';
import { openSiteIndex } from '../../../../search/query/site-index.ts';
import { answerParent } from '../support/answer-parent.ts';
import { generateSite } from '../support/generate-pages.ts';
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
  searches: number;
  p50: number;
  p95: number;
  cpuMs: number;
}

const differentQuestions = 1_000;
const limit = 10;

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

  using opened = openSiteIndex(file);
  const index = opened.as('all');
  const times: number[] = [];
  for (const query of questions.slice(0, 50)) index.search({ query, limit });
  const cpu = process.cpuUsage();
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    const from = performance.now();
    index.search({ query: questions[times.length % questions.length]!, limit });
    times.push(performance.now() - from);
  }
  const { user, system } = process.cpuUsage(cpu);
  return {
    sourceBytes: bytes,
    chunks: built.chunks,
    readSeconds: (building - reading) / 1_000,
    buildSeconds: (hasBuilt - building) / 1_000,
    buildCpuSeconds: (builtCpu.user + builtCpu.system) / 1e6,
    indexBytes: statSync(file).size,
    changeSeconds,
    searches: times.length,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    cpuMs: (user + system) / 1_000 / times.length,
  };
}

function changedFile({ path, read }: SourceFile): SourceFile {
  return { path, read: () => `${read()}\n## What is new\n\nA paragraph that was not there.\n` };
}

answerParent({ measure });
