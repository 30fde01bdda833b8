import { z } from 'zod';
import { mostCommits } from '../../db/pull-requests/pull-requests.ts';

const time = z.string().meta({ format: 'date-time' });

export const pullRequestSchema = z.object({
  id: z.string(),
  number: z.number().int(),
  repository: z.string(),
  head: z.string(),
  base: z.string(),
  title: z.string(),
  body: z.string().meta({ description: 'Markdown.' }),
  state: z.enum(['open', 'closed', 'merged']),
  draft: z.boolean(),
  job: z.object({ id: z.string(), projectId: z.string() }),
  commits: z
    .array(z.object({ id: z.string(), turn: z.number().int(), title: z.string(), createdAt: time }))
    .max(mostCommits)
    .meta({ description: 'One of each turn that pushed: the newest, oldest first.' }),
  merge: z.object({
    isMerging: z.boolean().meta({ description: 'A worker has still to merge it.' }),
    problem: z.string().nullable().meta({ description: 'Why the last try could not be done.' }),
    commit: z.string().nullable(),
  }),
  createdAt: time,
  updatedAt: time,
});
export type PublicPullRequest = z.infer<typeof pullRequestSchema>;
