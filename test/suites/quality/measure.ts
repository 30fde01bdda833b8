import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { buildIndex } from '../../../search/build/build-index.ts';
import { readPages } from '../../../search/read/read-pages.ts';
import type { SourceFile } from '../../../search/read/source-file.ts';
import { openSiteIndex, type SiteIndex } from '../../../search/query/site-index.ts';
import { answersOf, pairedLines, readAnswers } from './answers.ts';
import { checkCitedPassages } from './cited-passages.ts';
import { openEarlierSearch } from './earlier-search.ts';
import {
  evaluate,
  filesOf,
  hitShare,
  pairedRanks,
  rankOf,
  readQuestions,
  reciprocalRank,
  requestOf,
  type Question,
} from './evaluate.ts';
import { addVectors, ranksByMeaning, type MeasuredModel } from './meaning.ts';
import { checkStatements, factKinds } from './statements.ts';
import { flag, readTool } from '../../../lib/inputs/tool-arguments.ts';
import { wilson } from '../../../lib/statistics.ts';
import { bootstrap } from '../../support/bootstrap.ts';

const usage = `node test/suites/quality/measure.ts --docs FOLDER --questions FILE [--misses] [--queries good|bad] [--save FILE] [--against FILE] [--before CHECKOUT] [--embeddings URL --model NAME]
       node test/suites/quality/measure.ts --docs FOLDER --citations`;

const { options: values } = readTool({
  command: 'node test/suites/quality/measure.ts',
  about: 'Measures how well the search finds the pages that answer questions, or whether citations can be checked.',
  options: {
    docs: z.string().optional().describe('folder of the documentation'),
    questions: z.string().optional().describe('file of questions with their pages'),
    misses: flag().describe('prints the questions that were missed'),
    queries: z.string().optional().describe('good or bad: searches with rewritten queries'),
    save: z.string().optional().describe('file for the results'),
    against: z.string().optional().describe('file of earlier results to compare with'),
    before: z.string().optional().describe('checkout of an earlier commit, with its modules, whose search is compared'),
    embeddings: z.string().optional().describe('base URL of a server with an embedding model, as of OpenAI'),
    model: z.string().default('any').describe('its embedding model'),
    'query-prefix': z.string().default('').describe('what the model wants before a query'),
    'passage-prefix': z.string().default('').describe('what the model wants before a passage'),
    citations: flag().describe('checks the citations of the documentation itself'),
  },
});
const rewriting = z
  .enum(['good', 'bad'])
  .nullable()
  .safeParse(values.queries ?? null);
const { docs, questions } = values;
if (docs === undefined || !rewriting.success || (questions === undefined) !== values.citations) {
  process.stderr.write(`Usage: ${usage}\n`);
  process.exitCode = 2;
} else {
  const folder = mkdtempSync(join(tmpdir(), 'docket-quality-'));
  try {
    const file = join(folder, 'index.db');
    const built = buildIndex(await readPages(filesOf(docs)), { file });
    print(`${built.pages} pages, ${built.chunks} passages`);
    const measured = measuredModel();
    if (measured !== null) await addVectors(file, measured);
    using opened = openSiteIndex(file);
    const index = opened.as('all');
    if (questions === undefined) await measureCitations(index);
    else {
      await measureQuestions(index, readQuestions(questions), rewriting.data);
      if (measured !== null) await compareMeaning(index, readQuestions(questions), measured);
      if (values.before !== undefined) {
        const before = { checkout: values.before, file: join(folder, 'before.db'), files: filesOf(docs) };
        await compareSearch(index, readQuestions(questions), before);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measuredModel(): MeasuredModel | null {
  if (values.embeddings === undefined) return null;
  const [queryPrefix, passagePrefix] = [values['query-prefix'], values['passage-prefix']];
  return {
    choice: { model: `compatible/${values.model}`, queryPrefix, passagePrefix },
    settings: { compatible: { baseUrl: values.embeddings } },
  };
}

/** Compares the search by words and meaning with that by words. */
async function compareMeaning(index: SiteIndex, questions: Question[], measured: MeasuredModel): Promise<void> {
  const answerable = questions.filter(({ paths }) => paths.length > 0);
  const byMeaning = await ranksByMeaning(index, answerable, measured);
  print(`search by words and meaning, with ${measured.choice.model}; by words before`);
  pairedRanks(evaluate(index, answerable).ranks, byMeaning).forEach(print);
}

/** Compares the search with that of an earlier commit, on the same files and questions. */
async function compareSearch(
  index: SiteIndex,
  questions: Question[],
  { checkout, ...site }: { checkout: string; file: string; files: SourceFile[] },
): Promise<void> {
  const answerable = questions.filter(({ paths }) => paths.length > 0);
  const search = await openEarlierSearch(checkout, site);
  const before = answerable.map((question) => rankOf(search(requestOf(index, question)), question));
  print(`search, with ${checkout} before`);
  pairedRanks(before, evaluate(index, answerable).ranks).forEach(print);
}

async function measureQuestions(
  index: SiteIndex,
  questions: Question[],
  rewriting: 'good' | 'bad' | null,
): Promise<void> {
  const { ranks, refused, wronglyRefused } = evaluate(index, questions, rewriting);
  const line = (name: string, figure: (of: number[]) => number) => {
    const [low, high] = bootstrap(ranks, figure) ?? [0, 0];
    print(`${name.padEnd(10)} ${figure(ranks).toFixed(3)}  [${low.toFixed(3)}, ${high.toFixed(3)}]`);
  };
  print(`${ranks.length} answerable questions of ${questions.length}`);
  line('hit@1', (of) => hitShare(of, 1));
  line('hit@5', (of) => hitShare(of, 5));
  line('MRR@10', reciprocalRank);
  print(
    `refused    ${refused === null ? 'no unanswerable questions' : refused.toFixed(3)}  (of the answerable ones: ${wronglyRefused.toFixed(3)})`,
  );
  const answers = await answersOf(index, questions);
  if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(answers));
  print('answers of the extractive model');
  pairedLines(answers, values.against === undefined ? null : readAnswers(values.against)).forEach(print);
  if (values.misses)
    printMisses(
      questions.filter(({ paths }) => paths.length > 0),
      ranks,
    );
}

async function measureCitations(index: SiteIndex): Promise<void> {
  const figures = checkStatements(index);
  for (const kind of factKinds)
    for (const [what, [marked, of]] of Object.entries(figures[kind])) {
      const share = of === 0 ? 0 : marked / of;
      const [low, high] = wilson(share, of);
      print(
        `${kind.padEnd(10)} ${what.padEnd(8)} marked ${share.toFixed(3)}  [${low.toFixed(3)}, ${high.toFixed(3)}]  of ${of}`,
      );
    }
  for (const [name, figures] of Object.entries(await checkCitedPassages(index)))
    for (const [what, [right, of]] of Object.entries(figures))
      print(`${name.padEnd(18)} ${what.padEnd(8)} right ${(right / of).toFixed(3)}  of ${of}`);
}

function printMisses(questions: { question: string; paths: string[] }[], ranks: number[]): void {
  for (const [at, { question, paths }] of questions.entries())
    if (ranks[at] !== 1) print(`${ranks[at]}\t${question}\t${paths.join(' ')}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
