import type { operations } from './schema.d.ts';

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Answer<Name extends keyof operations, Status extends number> = operations[Name]['responses'] extends infer R
  ? Status extends keyof R
    ? Json<R[Status]>
    : never
  : never;

export type Session = Answer<'getSession', 200>;

export type ListedJob = Answer<'listJobs', 200>['jobs'][number];
export type Job = Answer<'getAgentJob', 200>;
export type JobEvent = Answer<'getAgentJobEvents', 200>['events'][number];
export type Turn = Answer<'listAgentJobTurns', 200>['turns'][number];
export type Step = Answer<'getAgentJobStep', 200>;
export type StepPrompt = Answer<'getAgentJobStepPrompt', 200>;
export type ToolCall = Step['toolCalls'][number];
export type PullRequest = Answer<'getPullRequest', 200>;
export type ListedPullRequest = Answer<'listPullRequests', 200>['pullRequests'][number];
export type JobPullRequest = Answer<'listAgentJobPullRequests', 200>['pullRequests'][number];
export type Guidance = Answer<'getProjectGuidance', 200>;
export type McpServer = Answer<'getProjectMcpServers', 200>['servers'][number];
export type Project = Answer<'listProjects', 200>['projects'][number];
export type Site = Answer<'listSites', 200>['sites'][number];
export type Webhook = Answer<'listWebhooks', 200>['webhooks'][number];
export type Conversation = Answer<'listConversations', 200>['conversations'][number];
export type ThreadMessage = Answer<'getThread', 200>['messages'][number];
export type Gap = Answer<'listGaps', 200>['gaps'][number];
export type Analytics = Answer<'getSiteAnalytics', 200>;
export type Evaluation = Answer<'getEvaluation', 200>;
export type QuestionSet = Answer<'getQuestionSet', 200>;
export type ListedSet = Answer<'listQuestionSets', 200>['sets'][number];
export type Usage = Answer<'getUsage', 200>;
export type Key = Answer<'listKeys', 200>['keys'][number];
export type Delivery = Answer<'listWebhookDeliveries', 200>['deliveries'][number];
export type Operations = Answer<'getOperations', 200>;
