import type { Command } from 'commander';
import type { ProjectSettings } from '../../db/organizations/projects.ts';
import { readDollars } from './checks.ts';

/** What the jobs of a project may spend, in millionths of a US dollar. */
export interface BudgetOptions {
  jobBudget?: number | null;
  dailyBudget?: number | null;
}

/** Adds the options; `none` leaves it to the installation's settings. */
export function addBudgetOptions(command: Command): Command {
  return command
    .option('--job-budget <dollars>', 'US dollars per turn of a job, or "none"', readDollars)
    .option('--daily-budget <dollars>', 'US dollars per day (UTC) for all jobs, or "none"', readDollars);
}

/** The change that the options ask for; commander gives an empty text for a null. */
export function budgetsOf({ jobBudget, dailyBudget }: BudgetOptions): ProjectSettings {
  return {
    ...(jobBudget === undefined ? {} : { jobBudgetMicros: jobBudget || null }),
    ...(dailyBudget === undefined ? {} : { dailyBudgetMicros: dailyBudget || null }),
  };
}
