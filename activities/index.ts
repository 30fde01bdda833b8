import type { BudgetStore, Budgets } from '../db/for-worker/budgets.ts';
import type { JobContextStore } from '../db/for-worker/job-context.ts';
import type { WorkerEventStore } from '../db/for-worker/job-events.ts';
import type { JobBranchStore } from '../db/for-worker/job-branches.ts';
import type { IdleJobs } from '../db/for-worker/idle-jobs.ts';
import type { IdleEndings } from '../db/for-worker/idle-endings.ts';
import type { WorkerMessageStore } from '../db/for-worker/job-messages.ts';
import type { WorkerJobStore } from '../db/for-worker/jobs.ts';
import type { EffectStore } from '../db/for-worker/effects.ts';
import type { ModelCallLeases } from '../db/for-worker/model-call-leases.ts';
import type { StepStore } from '../db/for-worker/steps.ts';
import type { PriceBook } from '../models/prices.ts';
import type { ModelRegistry } from '../models/registry.ts';
import type { Toolset } from './tools/agent-tool.ts';
import { createFinishReminder } from './tools/command-notes.ts';
import type { Commands } from './tools/commands.ts';
import { createArchiveActivities } from './job/archive.ts';
import { createAskModel } from './model/ask-model.ts';
import { createAskStep } from './model/ask-step.ts';
import { createCallLeases } from './model/call-lease.ts';
import { createAttempt } from './attempt.ts';
import type { Workspaces } from './workspaces/workspaces.ts';
import { createGrantedAccess, type GrantedAccessDeps } from './job/granted-access.ts';
import { createJobAccess } from './job/job-access.ts';
import type { KnownSecrets } from '../lib/redaction/known-secrets.ts';
import { createCompaction } from './model/compaction.ts';
import { createConversation } from './model/conversation.ts';
import { createGuidance } from './model/guidance.ts';
import { createSpending } from './model/spending.ts';
import { createTranscriptReader } from './model/read-transcript.ts';
import { createModelActivities } from './model/model.ts';
import { createStoreAnswer } from './model/store-answer.ts';
import { createPublishActivities } from './publish/publish.ts';
import { createPublisher } from './publish/publisher.ts';
import { createOutcomeActivities } from './job/outcome.ts';
import { createToolActivities } from './tools/tools.ts';
import { createTurnWatch } from './job/turn-watch.ts';
import { createWorkspaceActivities } from './job/workspace.ts';

export interface ActivityDeps extends GrantedAccessDeps {
  jobs: WorkerJobStore;
  messages: WorkerMessageStore;
  branches: JobBranchStore;
  endings: Pick<IdleEndings, 'archiveIdle'>;
  steps: StepStore;
  leases: ModelCallLeases;
  events: WorkerEventStore;
  effects: EffectStore;
  models: ModelRegistry;
  prices: PriceBook;
  context: JobContextStore;
  budgets: BudgetStore;
  /** The operator's: what a project says of itself is never more. */
  budgetCeilings: Budgets;
  workspaces: Workspaces;
  toolset: Toolset;
  commands: Commands;
  /** What must never be stored or leave: keys and tokens of this worker, and those of projects once they are read. */
  secrets: KnownSecrets;
  /** Tells which turns have ended while activities worked on them. */
  idleJobs: Pick<IdleJobs, 'endedTurns'>;
  /** Aborts when the process is about to go. */
  draining?: AbortSignal;
  /** Waits, for tests to shorten. */
  timing?: { retryBaseMs?: number; firstHeartbeatMs?: number; modelTimeoutMs?: number };
}

export type Activities = ReturnType<typeof createActivities>;

/** The activities of jobs; each is safe to run twice. */
export function createActivities(deps: ActivityDeps) {
  const { timing, secrets } = deps;
  const { redact, mask: maskSecrets } = secrets;
  const askModel = createAskModel({ ...deps, timeoutMs: timing?.modelTimeoutMs });
  const askPaid = createSpending({ ...deps, askModel });
  const compact = createCompaction({ ...deps, askPaid, maskSecrets });
  const access = createJobAccess({ ...deps, granted: createGrantedAccess(deps) });
  const conversation = createConversation({
    ...deps,
    access,
    compact,
    readTranscript: createTranscriptReader(deps),
    tellGuidance: createGuidance({ ...deps, access, maskSecrets }),
  });
  const shared = {
    ...deps,
    redact,
    maskSecrets,
    askPaid,
    conversation,
    access,
    remindOfFinish: createFinishReminder({ ...deps, access }),
    attempt: createAttempt({
      redact,
      retryBaseMs: timing?.retryBaseMs,
      firstHeartbeatMs: timing?.firstHeartbeatMs,
      watchTurn: createTurnWatch(deps.idleJobs),
      draining: deps.draining,
    }),
  };
  return {
    ...createWorkspaceActivities(shared),
    ...createModelActivities({
      ...shared,
      leases: createCallLeases(deps),
      askStep: createAskStep(shared),
      storeAnswer: createStoreAnswer(shared),
    }),
    ...createToolActivities(shared),
    ...createPublishActivities({ ...shared, publishWork: createPublisher(shared) }),
    ...createOutcomeActivities(shared),
    ...createArchiveActivities(shared),
  };
}
