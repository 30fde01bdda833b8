import { amountOf, linesOf } from '../components/fields.tsx';
import type { Project } from '../http/types.ts';
import type { EffortChoice } from '../jobs/effort.ts';

/** Settings of a project in a form. A list has one item per line, and an absent amount is empty. */
export type ProjectDraft = ReturnType<typeof draftOf>;

/** Returns the initial values of the form; null is for a new project. */
export function draftOf(project: Project | null) {
  const reasoningEffort: EffortChoice = project?.reasoningEffort ?? '';
  const forge: Project['forge'] | '' = '';
  return {
    name: project?.name ?? '',
    repository: project?.repository ?? '',
    /** Forge of a new project; empty to detect it. */
    forge,
    defaultRef: project?.defaultRef ?? '',
    models: (project?.models ?? []).join('\n'),
    reasoningEffort,
    maxOutputTokens: project?.maxOutputTokens?.toString() ?? '',
    forgeUrl: project?.forgeUrl ?? '',
    allowedRepositories: (project?.allowedRepositories ?? []).join('\n'),
    allowedPaths: (project?.allowedPaths ?? []).join('\n'),
    reviewers: (project?.reviewers ?? []).join('\n'),
    labels: (project?.labels ?? []).join('\n'),
    assignees: (project?.assignees ?? []).join('\n'),
    jobBudgetUsd: project?.jobBudgetUsd?.toString() ?? '',
    dailyBudgetUsd: project?.dailyBudgetUsd?.toString() ?? '',
    checkCommand: project?.checkCommand ?? '',
    environment: project?.environment ?? '',
    fetchHosts: (project?.fetchHosts ?? []).join('\n'),
    mayChangeWorkflows: project?.mayChangeWorkflows ?? false,
    mayRun: project?.mayRun ?? true,
    isReviewed: project?.plan === 'review',
    selfReview: selfReviewOf(project?.selfReview ?? null),
    mayAsk: project?.ask ?? false,
    /** New token. The stored one is never shown. */
    forgeToken: '',
    removesToken: false,
  };
}

/** Returns the request body. A name that is left out stays unchanged or is derived from the repository. */
export function changeOf(draft: ProjectDraft) {
  const { name, mayChangeWorkflows, mayRun, isReviewed, mayAsk, forgeToken, removesToken } = draft;
  const models = linesOf(draft.models);
  return {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    defaultRef: draft.defaultRef.trim() || null,
    models: models.length === 0 ? null : models,
    reasoningEffort: draft.reasoningEffort || null,
    maxOutputTokens: amountOf(draft.maxOutputTokens),
    forgeUrl: draft.forgeUrl.trim() || null,
    allowedRepositories: linesOf(draft.allowedRepositories),
    allowedPaths: linesOf(draft.allowedPaths),
    reviewers: linesOf(draft.reviewers),
    labels: linesOf(draft.labels),
    assignees: linesOf(draft.assignees),
    jobBudgetUsd: amountOf(draft.jobBudgetUsd),
    dailyBudgetUsd: amountOf(draft.dailyBudgetUsd),
    checkCommand: draft.checkCommand.trim() || null,
    environment: draft.environment.trim() === '' ? null : draft.environment,
    fetchHosts: linesOf(draft.fetchHosts),
    mayChangeWorkflows,
    mayRun,
    plan: isReviewed ? ('review' as const) : ('none' as const),
    ask: mayAsk,
    selfReview: draft.selfReview === '' ? null : draft.selfReview === 'on',
    ...(removesToken ? { forgeToken: null } : forgeToken === '' ? {} : { forgeToken }),
  };
}

/** Empty for the service's setting. */
function selfReviewOf(setting: boolean | null) {
  if (setting === null) return '';
  return setting ? 'on' : 'off';
}
