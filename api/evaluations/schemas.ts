import { z } from 'zod';
import { maxEvaluations } from '../../db/sites/evaluations.ts';
import { maxHistoryLength, maxHistory, maxQuestions, maxSets } from '../../db/sites/question-sets.ts';
import { instructionsSchema, queryRewritingSchema } from '../../lib/inputs/administration.ts';
import { givenTime, time, timeOrNull } from '../../lib/time-schemas.ts';
import { closedBody } from '../http/closed-object.ts';

const maxExpected = 10;

const question = {
  history: z
    .array(z.string().trim().min(1).max(maxHistoryLength))
    .max(maxHistory)
    .meta({ description: 'Earlier questions of its conversation, oldest first.' }),
  text: z.string().trim().min(1).max(2_000),
  expectedPages: z
    .array(z.string().trim().min(1).max(1_000))
    .max(maxExpected)
    .meta({ description: 'Paths or URLs of pages, of which an answer should cite at least one.' }),
  expectedFacts: z
    .array(z.string().trim().min(1).max(200))
    .max(maxExpected)
    .meta({ description: 'Numbers, names, options or other texts that an answer should contain.' }),
  expectsAnswer: z
    .boolean()
    .meta({ description: 'False for a question that the documentation should leave unanswered.' }),
  origin: z.enum(['manual', 'conversation', 'feedback', 'gap']),
};
const givenQuestion = closedBody({
  history: question.history.default([]),
  text: question.text,
  expectedPages: question.expectedPages.default([]),
  expectedFacts: question.expectedFacts.default([]),
  expectsAnswer: question.expectsAnswer.default(true),
  origin: question.origin.default('manual'),
});
const questions = z.array(givenQuestion).max(maxQuestions);
const name = z.string().trim().min(1).max(100);

/** Body of `POST …/question-sets`. */
export const createSetSchema = closedBody({ name, questions: questions.default([]) });

/** Body of `PATCH …/question-sets/{id}`. */
export const changeSetSchema = closedBody({
  name,
  questions: questions.meta({ description: 'Replaces all questions.' }),
  updatedAt: givenTime.meta({
    description: 'updatedAt of the set as it was read. If the set has changed since, the change is refused with 409.',
  }),
}).partial();

/** Body of `POST …/question-sets/{id}/questions`. */
export const addQuestionsSchema = closedBody({
  from: z.enum(['conversations', 'feedback', 'gaps']).meta({
    description:
      'conversations: questions that were answered; feedback: those whose answer was rated up; gaps: the most frequent question of each open gap.',
  }),
  limit: z.int().min(1).max(100).default(20),
});

export const questionSetSchema = z.object({
  id: z.string(),
  name: z.string(),
  questions: z.array(z.object(question)).max(maxQuestions),
  createdAt: time,
  updatedAt: time,
});

export const questionSetListSchema = z.object({
  sets: z.array(questionSetSchema.omit({ questions: true }).extend({ questions: z.number().int() })).max(maxSets),
});

const configuration = {
  model: z.string().min(1).max(200).meta({ description: 'Model, as provider/model.' }),
  instructions: instructionsSchema.nullable().meta({ description: 'Tone and emphasis; null for none.' }),
  retrievalPageSize: z.int().min(1).max(50).meta({ description: 'Number of passages that the model reads.' }),
  queryRewriting: queryRewritingSchema
    .nullable()
    .meta({ description: 'Model that rewrites questions for the search; null for none.' }),
};

/** Body of `POST …/evaluations`. */
export const createEvaluationSchema = closedBody({
  setId: z.string().max(64),
  configurations: z
    .array(closedBody(configuration).partial())
    .min(1)
    .max(2)
    .default([{}])
    .meta({ description: "One to measure, or two to compare. Omitted fields are those of the site's answers." }),
});

const count = z.number().int();
const interval = z
  .object({ low: z.number(), high: z.number() })
  .meta({ description: '95% score interval of the share (Wilson).' });

const sideSchema = z.object({
  ...configuration,
  asked: count,
  passed: count,
  passedShare: z.number().nullable(),
  interval,
  answered: count,
  citesExpected: count.meta({ description: 'Answers that cite an expected page.' }),
  findsExpected: count.meta({ description: 'Questions for which a passage of an expected page was found.' }),
  withExpectedPages: count.meta({ description: 'Questions that expect a page.' }),
  costUsd: z.number(),
  meanMs: z.number().nullable(),
});

const evaluationFields = {
  id: z.string(),
  setId: z.string().nullable().meta({ description: 'Null when the set was deleted.' }),
  setName: z.string(),
  state: z.enum(['running', 'completed', 'failed', 'stopped']),
  notice: z.string().nullable().meta({ description: 'Why it waits, or why it failed.' }),
  questions: count,
  asked: count.meta({ description: 'Number of answers so far; the total is questions times configurations.' }),
  createdAt: time,
  endedAt: timeOrNull,
};

export const evaluationListSchema = z.object({
  evaluations: z
    .array(z.object({ ...evaluationFields, configurations: z.array(z.object(configuration)).max(2) }))
    .max(maxEvaluations),
});

const paths = z.array(z.string()).max(100);

export const evaluationSchema = z.object({
  ...evaluationFields,
  indexVersions: z.array(count).max(1_000).meta({ description: 'Versions of the index that answered.' }),
  configurations: z.array(sideSchema).max(2),
  comparison: z
    .object({
      pairs: count.meta({ description: 'Questions with an answer of both configurations.' }),
      better: count.meta({ description: 'Questions that only the second configuration passes.' }),
      worse: count.meta({ description: 'Questions that only the first configuration passes.' }),
      difference: z.object({ share: z.number(), low: z.number(), high: z.number() }).nullable().meta({
        description:
          'How much larger the share of questions that the second configuration passes is, with its 95% interval. The interval contains 0 unless the verdict is decided. Null without pairs.',
      }),
      pValue: z.number().meta({ description: "Of McNemar's exact test." }),
      verdict: z.enum(['better', 'worse', 'undecided']).meta({ description: 'Decided if the p-value is below 0.05.' }),
    })
    .nullable()
    .meta({ description: 'The second configuration compared with the first; null for only one.' }),
  results: z
    .array(
      z.object({
        ...question,
        answers: z
          .array(
            z
              .object({
                passed: z.boolean(),
                answered: z.boolean(),
                answer: z.string(),
                cited: paths,
                found: paths,
                searchQuery: z
                  .string()
                  .nullable()
                  .meta({ description: 'Query that was searched for; null for the question.' }),
                citesExpected: z.boolean().nullable(),
                findsExpected: z.boolean().nullable(),
                missingFacts: z.array(z.string()).max(maxExpected),
                costUsd: z.number(),
                durationMs: count,
              })
              .nullable(),
          )
          .max(2)
          .meta({ description: 'One for each configuration; null while it has not been asked.' }),
      }),
    )
    .max(maxQuestions),
});
export type PublicEvaluation = z.infer<typeof evaluationSchema>;
