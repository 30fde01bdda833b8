import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { buildIndex } from '../../../search/build/build-index.ts';
import { readPages } from '../../../search/read/read-pages.ts';
import { openSiteIndex } from '../../../search/query/site-index.ts';
import { evaluate, filesOf, hitShare, readQuestions, reciprocalRank } from './evaluate.ts';
import { bootstrap } from '../../../lib/statistics.ts';

const usage = 'node test/suites/quality/measure.ts --questions FILE --docs FOLDER';

const { values } = parseArgs({
  options: {
    questions: { type: 'string' },
    docs: { type: 'string' },
    misses: { type: 'boolean', default: false },
    queries: { type: 'string' },
  },
});
const rewriting = z
  .enum(['good', 'bad'])
  .nullable()
  .safeParse(values.queries ?? null);
if (values.questions === undefined || values.docs === undefined || !rewriting.success) {
  process.stderr.write(`Usage: ${usage} [--misses] [--queries good|bad]\n`);
  process.exitCode = 2;
} else {
  await measure(values.questions, values.docs, rewriting.data);
}

async function measure(questionsFile: string, docs: string, rewriting: 'good' | 'bad' | null): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'docket-quality-'));
  try {
    const file = join(folder, 'index.db');
    const built = buildIndex(await readPages(filesOf(docs)), { file });
    const questions = readQuestions(questionsFile);
    using opened = openSiteIndex(file);
    const index = opened.as('all');
    const { ranks, refused, wronglyRefused } = evaluate(index, questions, rewriting);
    const line = (name: string, figure: (of: number[]) => number) => {
      const [low, high] = bootstrap(ranks, figure) ?? [0, 0];
      print(`${name.padEnd(10)} ${figure(ranks).toFixed(3)}  [${low.toFixed(3)}, ${high.toFixed(3)}]`);
    };
    print(
      `${built.pages} pages, ${built.chunks} passages, ${ranks.length} answerable questions of ${questions.length}`,
    );
    line('hit@1', (of) => hitShare(of, 1));
    line('hit@5', (of) => hitShare(of, 5));
    line('MRR@10', reciprocalRank);
    print(
      `refused    ${refused === null ? 'no unanswerable questions' : refused.toFixed(3)}  (of the answerable ones: ${wronglyRefused.toFixed(3)})`,
    );
    if (values.misses)
      printMisses(
        questions.filter(({ paths }) => paths.length > 0),
        ranks,
      );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function printMisses(questions: { question: string; paths: string[] }[], ranks: number[]): void {
  for (const [at, { question, paths }] of questions.entries())
    if (ranks[at] !== 1) print(`${ranks[at]}\t${question}\t${paths.join(' ')}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
