import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { parseMessageRequest } from '../../../api/assistant/message-request.ts';
import { searchOf } from '../../../api/assistant/retrieve.ts';
import type { SourceFile } from '../../../search/read/source-file.ts';
import type { SearchRequest } from '../../../search/query/search-request.ts';
import type { SiteIndex, SitePages } from '../../../search/query/site-index.ts';
import { mcNemar, mean } from '../../../lib/statistics.ts';
import { bootstrap } from '../../support/bootstrap.ts';

const questionsSchema = z.array(
  z.object({
    /** Earlier questions of the conversation. */
    history: z.array(z.string()).default([]),
    question: z.string(),
    /** Page that the reader is on. */
    currentPath: z.string().optional(),
    /** Pages that answer it; none: the documentation does not say. */
    paths: z.array(z.string()),
    /** Recorded replies of a model that rewrites it: what a good one would say, and what a poor one might. */
    queries: z.object({ good: z.string(), bad: z.string() }).optional(),
  }),
);

export type Question = z.infer<typeof questionsSchema>[number];

export interface Quality {
  /** Per answerable question, the place of the first right page among the pages found; 0 when there is none. */
  ranks: number[];
  hit1: number;
  hit5: number;
  mrr10: number;
  /** Share of the unanswerable questions that are refused; null if there are none. */
  refused: number | null;
  /** Share of the answerable questions that are refused. */
  wronglyRefused: number;
}

/** Reads a file of questions: `[{question, paths, history?, currentPath?}]`. */
export function readQuestions(file: string): Question[] {
  return questionsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

const compoundSchema = z.array(
  z.object({
    question: z.string(),
    /** For each of the questions that it consists of, pages that answer it. */
    halves: z.array(z.array(z.string())),
  }),
);

/** Returns the share of compound questions with an answer to each half among the passages that an answer is given. */
export function shareOfWhole(index: Pick<SiteIndex, 'search'>, file: string): number {
  const questions = compoundSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return mean(
    questions.map(({ question, halves }) => {
      const found = index.search({ query: question, limit: 5 }).map((hit) => hit.path);
      return halves.every((paths) => paths.some((path) => found.includes(path))) ? 1 : 0;
    }),
  );
}

/** The files below a folder, as `readPages` takes them. */
export function filesOf(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(folder, file).split(sep).join('/'), read: () => readFileSync(file, 'utf8') }));
}

/** Asks an index every question, or the recorded query in its place. */
export function evaluate(index: SiteIndex, questions: Question[], rewriting: 'good' | 'bad' | null = null): Quality {
  const ranks: number[] = [];
  const refusals = { right: 0, wrong: 0, unanswerable: 0 };
  for (const question of questions) {
    const { paths } = question;
    const hits = index.search(requestOf(index, question, rewriting));
    const isRefused = (hits[0]?.score ?? 0) < index.weakScore;
    if (paths.length === 0) {
      refusals.unanswerable++;
      if (isRefused) refusals.right++;
      continue;
    }
    if (isRefused) refusals.wrong++;
    ranks.push(
      rankOf(
        hits.map(({ path }) => path),
        question,
      ),
    );
  }
  return {
    ranks,
    hit1: hitShare(ranks, 1),
    hit5: hitShare(ranks, 5),
    mrr10: reciprocalRank(ranks),
    refused: refusals.unanswerable === 0 ? null : refusals.right / refusals.unanswerable,
    wronglyRefused: ranks.length === 0 ? 0 : refusals.wrong / ranks.length,
  };
}

/** Returns the search for a question, as the assistant would make it. */
export function requestOf(
  index: Pick<SitePages, 'page'>,
  { history, question, currentPath, queries }: Question,
  rewriting: 'good' | 'bad' | null = null,
): SearchRequest {
  const messages = [...history, question].map((content) => ({ role: 'user', content }));
  const request = parseMessageRequest({ fp: 'anonymous', messages, currentPath, retrievalPageSize: 50 });
  return searchOf(request, index, rewriting === null ? null : queries?.[rewriting]);
}

/** Returns the place of the first right page among the pages of passages that were found; 0 when there is none. */
export function rankOf(found: string[], { paths }: Question): number {
  return [...new Set(found)].findIndex((path) => paths.includes(path)) + 1;
}

/** Share of the ranks that are at most `depth`. */
export function hitShare(ranks: number[], depth: number): number {
  return mean(ranks.map((rank) => (rank > 0 && rank <= depth ? 1 : 0)));
}

/** Mean reciprocal rank over the first ten. */
export function reciprocalRank(ranks: number[]): number {
  return mean(ranks.map((rank) => (rank > 0 && rank <= 10 ? 1 / rank : 0)));
}

/** Returns a line per figure with both, and the probability or the interval of their difference. */
export function pairedRanks(before: number[], now: number[]): string[] {
  const shares = [1, 3, 5].map((depth) => {
    const hits = (ranks: number[]) => ranks.map((rank) => (rank > 0 && rank <= depth ? 1 : 0));
    const changes = hits(now).map((hit, at) => hit - (hits(before)[at] ?? 0));
    const [gained, lost] = [1, -1].map((sign) => changes.filter((change) => change === sign).length);
    const p = mcNemar(gained ?? 0, lost ?? 0).toFixed(3);
    return `hit@${depth}   ${hitShare(before, depth).toFixed(3)} → ${hitShare(now, depth).toFixed(3)}  of ${now.length}: +${gained} −${lost}, p = ${p}`;
  });
  const gains = now.map((rank, at) => reciprocalRank([rank]) - reciprocalRank([before[at] ?? 0]));
  const [low, high] = bootstrap(gains) ?? [0, 0];
  const mrr = `${reciprocalRank(before).toFixed(3)} → ${reciprocalRank(now).toFixed(3)}`;
  return [...shares, `MRR@10  ${mrr}  difference ${mean(gains).toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`];
}
