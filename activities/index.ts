import type { Budgets } from '../db/for-worker/budgets.ts';
import type { JobContextStore } from '../db/for-worker/job-context.ts';
import type { WorkerEventStore } from '../db/for-worker/job-events.ts';
import type { JobBranchStore } from '../db/for-worker/job-branches.ts';
import type { IdleJobs } from '../db/for-worker/idle-jobs.ts';
import type { IdleEndings } from '../db/for-worker/idle-endings.ts';
import type { WorkerMessageStore } from '../db/for-worker/job-messages.ts';
import type { WorkerJobStore } from '../db/for-worker/jobs.ts';
import type { EffectStore } from '../db/for-worker/effects.ts';
import type { WorkerImageStore } from '../db/for-worker/job-images.ts';
import type { ModelCallLeases } from '../db/for-worker/model-call-leases.ts';
import type { ModelFailureStore } from '../db/for-worker/model-failures.ts';
import type { ProjectGuidanceReader } from '../db/for-worker/projects/project-guidance.ts';
import type { ProjectRepositoryWriter } from '../db/for-worker/projects/project-repository.ts';
import type { ProjectToolReader } from '../db/for-worker/projects/project-tools.ts';
import type { ProjectReader } from '../db/for-worker/projects/projects.ts';
import type { StepStore } from '../db/for-worker/steps.ts';
import type { PriceBook } from '../models/prices.ts';
import type { ModelRegistry } from '../models/registry.ts';
import type { Toolset } from './tools/agent-tool.ts';
import { createFinishReminder } from './tools/command-notes.ts';
import { createMcpToolset } from './mcp/mcp-toolset.ts';
import type { McpNetwork } from './mcp/mcp-session.ts';
import type { PageNetwork } from './tools/fetch/fetch-page.ts';
import type { Commands } from './tools/commands.ts';
import { createArchiveActivities } from './job/archive.ts';
import { createAskModel } from './model/ask-model.ts';
import { createAskStep } from './model/ask-step.ts';
import { createCallLeases } from './model/call-lease.ts';
import { createAttempt } from './attempt.ts';
import type { Workspaces } from './workspaces/workspaces.ts';
import { createEnvironments, type EnvironmentDeps } from './environment/environments.ts';
import { createGrantedAccess, type GrantedAccessDeps } from './job/granted-access.ts';
import { createJobAccess } from './job/job-access.ts';
import type { KnownSecrets } from '../lib/redaction/known-secrets.ts';
import { createCompaction } from './model/transcript/compaction.ts';
import { createFallback } from './model/fallback.ts';
import { createConversation } from './model/transcript/conversation.ts';
import { createGuidance } from './model/guidance.ts';
import { createSpending } from './model/spending.ts';
import { createTranscriptReader } from './model/transcript/read-transcript.ts';
import { createAnswerStep } from './model/answer-step.ts';
import { createStoreAnswer } from './model/store-answer.ts';
import { createPublishActivities } from './publish/publish.ts';
import { createPublisher } from './publish/publisher.ts';
import { createOutcomeActivities } from './job/outcome.ts';
import { createSelfReview } from './tools/self-review.ts';
import { createRunCalls } from './tools/run-calls.ts';
import { createStepActivities } from './job/steps.ts';
import { createTurnWatch } from './job/turn-watch.ts';
import { createWorkspaceActivities } from './job/workspace.ts';

export interface ActivityDeps extends GrantedAccessDeps {
  projects: ProjectReader;
  guidance: ProjectGuidanceReader;
  repositoryNames: ProjectRepositoryWriter;
  toolServers: ProjectToolReader;
  network: McpNetwork;
  pages: PageNetwork;
  jobs: WorkerJobStore;
  messages: WorkerMessageStore;
  branches: JobBranchStore;
  endings: Pick<IdleEndings, 'archiveIdle'>;
  steps: StepStore;
  /** Days after which a job that waits for a person fails. */
  waitDays: number;
  /** Whether agents review their change unless the project says otherwise. */
  selfReview: boolean;
  leases: ModelCallLeases;
  modelFailures: ModelFailureStore;
  events: WorkerEventStore;
  effects: EffectStore;
  models: ModelRegistry;
  prices: PriceBook;
  context: JobContextStore;
  images: WorkerImageStore;
  /** Operator's budget ceilings; a project's own budgets never exceed them. */
  budgetCeilings: Budgets;
  workspaces: Workspaces;
  toolset: Toolset;
  /** Makes the runs of tools of MCP servers visible in traces. */
  traceTools?(toolset: Toolset): Toolset;
  commands: Commands;
  /**
   * Values that must never be stored or leave the worker: its keys and tokens, and those of projects once they are
   * read.
   */
  secrets: KnownSecrets;
  /** Finds turns that ended while activities were working on them. */
  idleJobs: Pick<IdleJobs, 'endedTurns'>;
  layers: EnvironmentDeps['layers'];
  layerFiles: EnvironmentDeps['layerFiles'];
  layerBounds: EnvironmentDeps['layerBounds'];
  projectSecrets: EnvironmentDeps['projectSecrets'];
  /** Operator’s limits on the environments of projects. */
  ceilings: EnvironmentDeps['ceilings'];
  /** Aborts when the process is about to shut down. */
  draining?: AbortSignal;
  /** Delays that tests can shorten. */
  timing?: { retryBaseMs?: number; firstHeartbeatMs?: number; modelTimeoutMs?: number };
}

export type Activities = ReturnType<typeof createActivities>;

/** Creates the activities of jobs; each is safe to run twice. */
export function createActivities(deps: ActivityDeps) {
  const { timing, secrets } = deps;
  const { redact, mask: maskSecrets } = secrets;
  const askModel = createAskModel({ ...deps, timeoutMs: timing?.modelTimeoutMs });
  const askPaid = createSpending({ ...deps, askModel });
  const compact = createCompaction({ ...deps, askPaid, maskSecrets });
  const access = createJobAccess({ ...deps, granted: createGrantedAccess(deps) });
  const transcripts = createTranscriptReader(deps);
  const conversation = createConversation({
    ...deps,
    compact,
    transcripts,
    addGuidance: createGuidance({ ...deps, access, maskSecrets }),
  });
  const shared = {
    ...deps,
    askForReview: createSelfReview({ ...deps, access, maskSecrets }),
    environments: createEnvironments(deps),
    redact,
    maskSecrets,
    askPaid,
    conversation,
    transcripts,
    access,
    mcpToolset: createMcpToolset(deps.traceTools),
    remindOfFinish: createFinishReminder({ ...deps, access }),
    attempt: createAttempt({
      secrets,
      retryBaseMs: timing?.retryBaseMs,
      firstHeartbeatMs: timing?.firstHeartbeatMs,
      watchTurn: createTurnWatch(deps.idleJobs),
      draining: deps.draining,
    }),
  };
  return {
    ...createWorkspaceActivities(shared),
    ...createStepActivities({
      ...shared,
      answerStep: createAnswerStep({
        ...shared,
        leases: createCallLeases(deps),
        askStep: createAskStep(shared),
        storeAnswer: createStoreAnswer(shared),
        countFailure: createFallback(shared),
      }),
      runCalls: createRunCalls(shared),
    }),
    ...createPublishActivities({ ...shared, publishWork: createPublisher(shared) }),
    ...createOutcomeActivities(shared),
    ...createArchiveActivities(shared),
  };
}
