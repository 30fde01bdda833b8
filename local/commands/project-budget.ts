import type { Command } from 'commander';
import type { ProjectSettings } from '../../db/projects.ts';
import { readDollars } from './checks.ts';

/** What the jobs of a project may spend, in millionths of a US dollar. */
export interface BudgetOptions {
  jobBudget?: number | null;
  dailyBudget?: number | null;
}

/** Adds the options; `none` leaves it to the installation's settings. */
export function addBudgetOptions(command: Command): Command {
  return command
    .option('--job-budget <dollars>', 'US dollars that one turn of a job may cost, or "none"', readDollars)
    .option('--daily-budget <dollars>', 'US dollars that all jobs of a day (UTC) may cost, or "none"', readDollars);
}

/** The change that the options ask for; commander gives an empty text for a null. */
export function budgetsOf({ jobBudget, dailyBudget }: BudgetOptions): ProjectSettings {
  return {
    ...(jobBudget === undefined ? {} : { jobBudgetMicros: jobBudget || null }),
    ...(dailyBudget === undefined ? {} : { dailyBudgetMicros: dailyBudget || null }),
  };
}
