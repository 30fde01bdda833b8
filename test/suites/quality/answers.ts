import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseMessageRequest } from '../../../api/assistant/message-request.ts';
import { isAnswer, promptOf } from '../../../api/assistant/prompt.ts';
import { searchOf } from '../../../api/assistant/retrieve.ts';
import { mcNemar, mean } from '../../../lib/statistics.ts';
import { createOfflineExtract } from '../../../models/offline-extract/offline-extract.ts';
import type { SiteIndex } from '../../../search/query/site-index.ts';
import type { Question } from './evaluate.ts';

const answersSchema = z.array(
  z.object({
    question: z.string(),
    isAnswerable: z.boolean(),
    isAnswered: z.boolean(),
    /** Whether a page that answers the question is quoted first; whether it is quoted at all. */
    isFirst: z.boolean(),
    isQuoted: z.boolean(),
  }),
);

export type Answers = z.infer<typeof answersSchema>;

/** Reads the answers that an earlier run saved. */
export function readAnswers(file: string): Answers {
  return answersSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** Asks the extractive model every question, with the passages and the prompt of the assistant. */
export async function answersOf(index: SiteIndex, questions: Question[]): Promise<Answers> {
  const model = createOfflineExtract();
  const answers: Answers = [];
  for (const { history, question, currentPath, paths } of questions) {
    const messages = [...history, question].map((content) => ({ role: 'user', content }));
    const request = parseMessageRequest({ fp: 'anonymous', messages, currentPath });
    const hits = index.search(searchOf(request, index));
    const site = { baseUrl: null, instructions: null };
    const prompt = promptOf({ request, query: null, hits, weakScore: index.weakScore, site });
    const { content } = await model.doGenerate({ prompt });
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const sources = content.flatMap((part) => (part.type === 'source' && part.sourceType === 'url' ? [part.url] : []));
    const quoted = sources.map((url) => paths.some((path) => url.replace(/^\/|#.*$/g, '') === path));
    answers.push({
      question,
      isAnswerable: paths.length > 0,
      isAnswered: isAnswer(text),
      isFirst: quoted[0] ?? false,
      isQuoted: quoted.includes(true),
    });
  }
  return answers;
}

const figures = {
  'right page first': (answer: Answers[number]) => (answer.isAnswerable ? answer.isFirst : null),
  'right page quoted': (answer: Answers[number]) => (answer.isAnswerable ? answer.isQuoted : null),
  'wrongly refused': (answer: Answers[number]) => (answer.isAnswerable ? !answer.isAnswered : null),
  'rightly refused': (answer: Answers[number]) => (answer.isAnswerable ? null : !answer.isAnswered),
};

/** Returns a line per figure; with earlier answers to the same questions, both, and whether they differ by chance. */
export function pairedLines(answers: Answers, before: Answers | null): string[] {
  const earlier = new Map(before?.map((answer) => [answer.question, answer]));
  return Object.entries(figures).map(([name, figure]) => {
    const pairs = answers.flatMap((answer) => {
      const now = figure(answer);
      const old = earlier.get(answer.question);
      const was = before === null ? now : old === undefined ? null : figure(old);
      return now === null || was === null ? [] : [{ now: Number(now), was: Number(was) }];
    });
    const share = mean(pairs.map(({ now }) => now)).toFixed(3);
    if (before === null) return `${name.padEnd(18)} ${share}  of ${pairs.length}`;
    const [gained, lost] = [1, -1].map((sign) => pairs.filter(({ now, was }) => now - was === sign).length);
    const earlierShare = mean(pairs.map(({ was }) => was)).toFixed(3);
    return `${name.padEnd(18)} ${earlierShare} → ${share}  of ${pairs.length}: +${gained} −${lost}, p = ${mcNemar(gained ?? 0, lost ?? 0).toFixed(3)}`;
  });
}
