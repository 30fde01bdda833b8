import { describeAdministration } from '../administration/describe-administration.ts';
import { describeAssistant } from '../assistant/describe-assistant.ts';
import { describeGaps } from '../sites/describe-gaps.ts';
import { describeJobActions } from '../jobs/describe-job-actions.ts';
import { describeJobLists } from '../jobs/describe-job-lists.ts';
import { describeJobRecords } from '../jobs/describe-job-records.ts';
import { describeJobStory } from '../jobs/describe-job-story.ts';
import { describeJobs } from '../jobs/describe-jobs.ts';
import { describePullRequests } from '../pull-requests/describe-pull-requests.ts';
import { describeSession } from '../administration/describe-session.ts';
import { describeSystem } from '../administration/describe-system.ts';
import { describeWebhooks } from '../webhooks/describe-webhooks.ts';
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
