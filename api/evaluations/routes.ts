import { z } from 'zod';
import {
  EvaluationRunningError,
  type EvaluatedConfiguration,
  type EvaluationStore,
} from '../../db/sites/evaluations.ts';
import {
  maxQuestions,
  maxSets,
  SetChangedError,
  SetNameTakenError,
  TooManySetsError,
  type QuestionSetRow,
  type QuestionSetStore,
  type SetQuestion,
} from '../../db/sites/question-sets.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { checkModels } from '../administration/named-models.ts';
import { invalidRequest } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { Gaps } from '../sites/gaps.ts';
import type { ReadSite } from '../sites/site-reader.ts';
import { domain } from '../sites/site-schemas.ts';
import {
  evaluationNotFound,
  evaluationRunning,
  questionSetChanged,
  questionSetNotFound,
  questionSetTaken,
} from './errors.ts';
import { presentConfiguration, presentEvaluation, presentFields, presentListedSet, presentSet } from './present.ts';
import {
  addQuestionsSchema,
  changeSetSchema,
  createEvaluationSchema,
  createSetSchema,
  evaluationListSchema,
  evaluationSchema,
  questionSetListSchema,
  questionSetSchema,
} from './schemas.ts';

const sets = '/v1/sites/{domain}/question-sets';
const evaluations = '/v1/sites/{domain}/evaluations';
const ofSet = { domain, id: z.string().meta({ description: 'The id of the question set.' }) };
const ofEvaluation = { domain, id: z.string().meta({ description: 'The id of the evaluation.' }) };
const set = json('The question set.', questionSetSchema);
const evaluation = json('The evaluation with its answers so far.', evaluationSchema);
const maxBytes = 1024 * 1024;

/** Routes for question sets of a site, and for evaluations of its answers to them. */
export const evaluationRoutes = {
  listQuestionSets: defineRoute({
    method: 'get',
    path: sets,
    summary: 'Lists the question sets of a site.',
    params: { domain },
    responses: { 200: json('All sets, with the numbers of their questions.', questionSetListSchema) },
  }),
  createQuestionSet: defineRoute({
    method: 'post',
    path: sets,
    summary: 'Creates a question set.',
    role: 'member',
    params: { domain },
    body: createSetSchema,
    maxBytes,
    responses: { 201: set },
    errors: [409],
  }),
  getQuestionSet: defineRoute({
    method: 'get',
    path: `${sets}/{id}`,
    summary: 'Returns a question set.',
    params: ofSet,
    responses: { 200: set },
  }),
  changeQuestionSet: defineRoute({
    method: 'patch',
    path: `${sets}/{id}`,
    summary: 'Changes the name or the questions of a question set.',
    role: 'member',
    params: ofSet,
    body: changeSetSchema,
    maxBytes,
    responses: { 200: set },
    errors: [409],
  }),
  addSetQuestions: defineRoute({
    method: 'post',
    path: `${sets}/{id}/questions`,
    summary: 'Adds questions that readers asked to a question set.',
    description: 'Texts that the set has already are left out. Pages that were cited become the expected ones.',
    role: 'member',
    params: ofSet,
    body: addQuestionsSchema,
    responses: { 200: set },
    errors: [409],
  }),
  deleteQuestionSet: defineRoute({
    method: 'delete',
    path: `${sets}/{id}`,
    summary: 'Deletes a question set. Its evaluations remain.',
    role: 'member',
    params: ofSet,
    responses: { 204: { description: 'The set is deleted.' } },
  }),
  listEvaluations: defineRoute({
    method: 'get',
    path: evaluations,
    summary: 'Lists the evaluations of a site, newest first.',
    params: { domain },
    responses: { 200: json('The newest 50.', evaluationListSchema) },
  }),
  createEvaluation: defineRoute({
    method: 'post',
    path: evaluations,
    summary: 'Asks the questions of a set with one configuration, or compares two.',
    description:
      "Runs in the background, one evaluation of an organization at a time. Its answers count against the site's budget; when the budget of the day is spent, it continues after 00:00 UTC.",
    role: 'member',
    params: { domain },
    body: createEvaluationSchema,
    responses: { 201: evaluation },
    errors: [409],
  }),
  getEvaluation: defineRoute({
    method: 'get',
    path: `${evaluations}/{id}`,
    summary: 'Returns an evaluation with its results by question.',
    params: ofEvaluation,
    responses: { 200: evaluation },
  }),
  stopEvaluation: defineRoute({
    method: 'post',
    path: `${evaluations}/{id}/stop`,
    summary: 'Stops a running evaluation. Its answers so far remain.',
    role: 'member',
    params: ofEvaluation,
    responses: { 200: evaluation },
  }),
};

export interface EvaluationRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  questionSets: QuestionSetStore;
  evaluations: EvaluationStore;
  gapReader: Pick<Gaps, 'list'>;
  problemWithModel(name: string): string | null;
  /** Model of the assistant, as `provider/model`. */
  defaultModel: string;
}

export function createEvaluationRouter(deps: EvaluationRouteDeps): AppRouter {
  const { readSite, questionSets } = deps;

  async function setOf(site: SiteRow, id: string): Promise<QuestionSetRow> {
    const found = await questionSets.find(site, id);
    if (found === null) throw questionSetNotFound();
    return found;
  }

  async function evaluationOf(site: SiteRow, id: string) {
    const found = await deps.evaluations.find(site, id);
    if (found === null) throw evaluationNotFound();
    return presentEvaluation(found);
  }

  async function askedQuestions(site: SiteRow, from: 'conversations' | 'feedback' | 'gaps', limit: number) {
    if (from !== 'gaps') return questionSets.listAnswered(site, { isRatedUp: from === 'feedback', limit });
    const open = (await deps.gapReader.list(site)).filter(({ state }) => state === 'open').slice(0, limit);
    return open.map(({ label }) => ({
      text: label,
      expectedPages: [],
      expectedFacts: [],
      expectsAnswer: true,
      origin: 'gap' as const,
    }));
  }

  async function orRefuse<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SetNameTakenError) throw questionSetTaken();
      if (error instanceof SetChangedError) throw questionSetChanged();
      if (error instanceof EvaluationRunningError) throw evaluationRunning();
      if (error instanceof TooManySetsError) throw invalidRequest(`A site has at most ${maxSets} question sets.`);
      throw error;
    }
  }

  function completed(site: SiteRow, given: Partial<EvaluatedConfiguration>): EvaluatedConfiguration {
    const { model = deps.defaultModel, instructions = site.instructions, retrievalPageSize = 5 } = given;
    const { queryRewriting = site.queryRewriting } = given;
    checkModels([model, ...(queryRewriting === null ? [] : [queryRewriting])], deps.problemWithModel);
    return { model, instructions, retrievalPageSize, queryRewriting };
  }

  return mountRoutes(deps.admit, evaluationRoutes, {
    async listQuestionSets({ caller, params }) {
      const found = await questionSets.list(await readSite(caller, params.domain));
      return { sets: found.map(presentListedSet) };
    },

    async createQuestionSet({ ctx, caller, params, body }) {
      const site = await readSite(caller, params.domain);
      const given = await body();
      const created = await orRefuse(() => questionSets.create(caller, site.id, given));
      ctx.set('Location', `/v1/sites/${site.domain}/question-sets/${created.id}`);
      return presentSet(created);
    },

    async getQuestionSet({ caller, params }) {
      return presentSet(await setOf(await readSite(caller, params.domain), params.id));
    },

    async changeQuestionSet({ caller, params, body }) {
      const { id } = await readSite(caller, params.domain);
      const change = { id: params.id, ...(await body()) };
      const changed = await orRefuse(() => questionSets.update(caller, id, change));
      if (changed === null) throw questionSetNotFound();
      return presentSet(changed);
    },

    async addSetQuestions({ caller, params, body }) {
      const site = await readSite(caller, params.domain);
      const { questions, updatedAt } = await setOf(site, params.id);
      const { from, limit } = await body();
      const known = new Map(questions.map((question) => [keyOf(question), question]));
      for (const question of await askedQuestions(site, from, limit))
        if (!known.has(keyOf(question))) known.set(keyOf(question), question);
      const all: SetQuestion[] = [...known.values()].slice(0, maxQuestions);
      const change = { id: params.id, questions: all, updatedAt };
      const changed = await orRefuse(() => questionSets.update(caller, site.id, change));
      if (changed === null) throw questionSetNotFound();
      return presentSet(changed);
    },

    async deleteQuestionSet({ caller, params }) {
      const { id } = await readSite(caller, params.domain);
      if (!(await questionSets.remove(caller, id, params.id))) throw questionSetNotFound();
    },

    async listEvaluations({ caller, params }) {
      const found = await deps.evaluations.list(await readSite(caller, params.domain));
      return {
        evaluations: found.map((one) => ({
          ...presentFields(one),
          configurations: one.configurations.map(presentConfiguration),
        })),
      };
    },

    async createEvaluation({ ctx, caller, params, body }) {
      const site = await readSite(caller, params.domain);
      const { setId, configurations } = await body();
      const found = await setOf(site, setId);
      if (found.questions.length === 0) throw invalidRequest('The question set is empty. Add a question first.');
      const complete = configurations.map((given) => completed(site, given));
      const created = await orRefuse(() =>
        deps.evaluations.create(caller, site.id, { set: found, configurations: complete }),
      );
      ctx.set('Location', `/v1/sites/${site.domain}/evaluations/${created.id}`);
      return presentEvaluation({ ...created, results: [] });
    },

    async getEvaluation({ caller, params }) {
      return evaluationOf(await readSite(caller, params.domain), params.id);
    },

    async stopEvaluation({ caller, params }) {
      const site = await readSite(caller, params.domain);
      if (!(await deps.evaluations.stop(caller, site.id, params.id))) throw evaluationNotFound();
      return evaluationOf(site, params.id);
    },
  });
}

/** A follow-up question is another one in another conversation. */
function keyOf({ history = [], text }: SetQuestion): string {
  return JSON.stringify([...history, text]);
}
