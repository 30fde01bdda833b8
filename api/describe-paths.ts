import { describeAdministration } from './describe-administration.ts';
import { describeAssistant } from './describe-assistant.ts';
import { describeGaps } from './describe-gaps.ts';
import { describeJobActions } from './describe-job-actions.ts';
import { describeJobLists } from './describe-job-lists.ts';
import { describeJobRecords } from './describe-job-records.ts';
import { describeJobStory } from './describe-job-story.ts';
import { describeJobs } from './describe-jobs.ts';
import { describePullRequests } from './describe-pull-requests.ts';
import { describeSession } from './describe-session.ts';
import { describeSystem } from './describe-system.ts';
import { describeWebhooks } from './describe-webhooks.ts';
import type { PathMaker } from './openapi.ts';

/** All that the HTTP API is, in the order of its description. */
export const describePaths: PathMaker[] = [
  describeJobs,
  describeJobLists,
  describeJobActions,
  describeJobRecords,
  describeJobStory,
  describePullRequests,
  describeAssistant,
  describeGaps,
  describeSession,
  describeAdministration,
  describeSystem,
  describeWebhooks,
];
