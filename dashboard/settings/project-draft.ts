import { amountOf, linesOf } from '../components/fields.tsx';
import type { Project } from '../http/types.ts';

/** Settings of a project in a form. A list has one item per line, and an absent amount is empty. */
export interface ProjectDraft {
  name: string;
  repository: string;
  defaultRef: string;
  model: string;
  forgeUrl: string;
  allowedRepositories: string;
  allowedPaths: string;
  reviewers: string;
  labels: string;
  assignees: string;
  jobBudgetUsd: string;
  dailyBudgetUsd: string;
  checkCommand: string;
  environment: string;
  fetchHosts: string;
  mayChangeWorkflows: boolean;
  mayRun: boolean;
  isReviewed: boolean;
  mayAsk: boolean;
  /** New token. The stored one is never shown. */
  forgeToken: string;
  removesToken: boolean;
}

/** Returns the initial values of the form; null is for a new project. */
export function draftOf(project: Project | null): ProjectDraft {
  return {
    name: project?.name ?? '',
    repository: project?.repository ?? '',
    defaultRef: project?.defaultRef ?? '',
    model: project?.model ?? '',
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
    mayAsk: project?.ask ?? false,
    forgeToken: '',
    removesToken: false,
  };
}

/** Returns the request body. A name that is left out stays unchanged or is derived from the repository. */
export function changeOf(draft: ProjectDraft) {
  const { name, mayChangeWorkflows, mayRun, isReviewed, mayAsk, forgeToken, removesToken } = draft;
  return {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    defaultRef: draft.defaultRef.trim() || null,
    model: draft.model.trim() || null,
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
    ...(removesToken ? { forgeToken: null } : forgeToken === '' ? {} : { forgeToken }),
  };
}
