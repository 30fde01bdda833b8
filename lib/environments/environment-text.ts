import { z } from 'zod';
import { longestEnvironment, parseEnvironment } from './environment.ts';

/** The text of a description that a project has instead of its repository's. */
export const environmentTextSchema = z
  .string()
  .max(longestEnvironment)
  .superRefine((text, context) => {
    const parsed = parseEnvironment(text);
    if (!parsed.ok) context.addIssue(parsed.problem);
  });
