import type { ProjectChange } from '../../db/organizations/projects.ts';
import type { SiteChange } from '../../db/sites/sites.ts';
import { invalidRequest } from '../http/errors.ts';

/** Budgets set by the operator for jobs and answers, in millionths of a US dollar; null means unlimited. */
export interface BudgetCeilings {
  jobMicros: number | null;
  dayMicros: number | null;
  organizationMicros: number | null;
}

/** Throws ApiError when a project's budget would exceed the operator's ceiling. */
export function checkBudgets(
  { jobBudgetMicros, dailyBudgetMicros }: ProjectChange,
  { jobMicros, dayMicros }: BudgetCeilings,
): void {
  checkBudget('jobBudgetUsd', jobBudgetMicros, { variable: 'DOCKET_MAX_JOB_DOLLARS', ceiling: jobMicros });
  const ofDay = { variable: 'DOCKET_MAX_PROJECT_DOLLARS_PER_DAY', ceiling: dayMicros };
  checkBudget('dailyBudgetUsd', dailyBudgetMicros, ofDay);
}

/** Throws ApiError when the budget of a site's answers would exceed the operator's ceiling. */
export function checkAnswerBudget(
  { answerBudgetMicros }: SiteChange,
  { organizationMicros: ceiling }: Pick<BudgetCeilings, 'organizationMicros'>,
): void {
  const variable = 'DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY';
  checkBudget('answerBudgetUsd', answerBudgetMicros, { variable, ceiling });
}

/** Converts an amount of a request. */
export function microsOf(dollars: number | null): number | null {
  return dollars === null ? null : Math.round(dollars * 1e6);
}

function checkBudget(
  field: string,
  micros: number | null | undefined,
  { variable, ceiling }: { variable: string; ceiling: number | null },
): void {
  if (ceiling === null || (micros ?? 0) <= ceiling) return;
  throw invalidRequest(`${field} must be at most ${ceiling / 1e6}, the limit that the operator set (${variable}).`);
}
