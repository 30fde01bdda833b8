import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mean } from '../../../lib/statistics.ts';
import type { SearchInput, SearchResult } from './processes/search-index.ts';
import { serverCore, startBenchProcess } from './support/bench-process.ts';
import { meterLoad } from './support/cpu.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

/** The search engine alone, on sites of generated pages. */
export async function benchSearch(servers: BenchServers, options: BenchOptions): Promise<void> {
  const directory = join(servers.directory, 'search');
  await mkdir(directory, { recursive: true });
  const rows: { pages: number; result: SearchResult; others: number }[] = [];
  for (const pages of options.isQuick ? [1_000] : [1_000, 25_000]) {
    // each in its own process, so that one does not count the memory of the other
    await using engine = await startBenchProcess('search-index', { core: serverCore, flags: options.serverFlags });
    const meter = meterLoad();
    const input: SearchInput = { pages, directory, seconds: options.seconds * 2 };
    const result = await engine.ask<SearchResult>('measure', input);
    rows.push({ pages, result, others: meter.others() });
  }
  printTable(
    'search: generated pages, one core',
    ['pages', 'source MB', 'passages', 'read s', 'build s', 'CPU s', 'index MB', 'one page changed s', 'others'],
    rows.map(({ pages, result, others }) => [
      pages.toLocaleString('en-US'),
      figure(result.sourceBytes / 1e6),
      figure(result.chunks),
      figure(result.readSeconds),
      figure(result.buildSeconds),
      figure(result.buildCpuSeconds),
      figure(result.indexBytes / 1e6),
      figure(result.changeSeconds),
      figure(others),
    ]),
  );
  printTable(
    'search: one question after another, 10 hits each',
    ['pages', 'by', 'searches', 'p50 ms', 'p95 ms', 'CPU ms'],
    rows.flatMap(({ pages, result }) =>
      [
        { by: 'words', times: result.byWords },
        { by: 'words and vectors', times: result.withVectors },
      ].map(({ by, times }) => [
        pages.toLocaleString('en-US'),
        by,
        figure(times.searches),
        figure(times.p50),
        figure(times.p95),
        figure(times.cpuMs),
      ]),
    ),
  );
  printTable(
    'search by meaning: the ten nearest passages, against comparing all vectors',
    [
      'pages',
      'questions',
      'of exact',
      'of exact on floats',
      'exact of floats',
      'ms',
      'exact ms',
      'floats ms',
      'exact / sketches',
    ],
    rows.map(({ pages, result: { recall } }) => [
      pages.toLocaleString('en-US'),
      figure(recall.questions),
      mean(recall.ofQuantised).toFixed(3),
      mean(recall.ofFloat).toFixed(3),
      mean(recall.quantisedOfFloat).toFixed(3),
      figure(recall.sketchMs),
      figure(recall.quantisedMs),
      figure(recall.floatMs),
      figure(recall.quantisedMs / recall.sketchMs),
    ]),
  );
  printNote('aims: p95 ≤ 30 ms on 25,000 pages, which are indexed in ≤ 60 s.');
}
