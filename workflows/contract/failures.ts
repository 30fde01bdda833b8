/**
 * Every failure type that crosses a boundary: the `type` of an ApplicationFailure and `details.failure.category` of a
 * job.
 */
export const FailureType = {
  RepositoryUnreachable: 'repository_unreachable',
  RepositoryTooLarge: 'repository_too_large',
  RefNotFound: 'ref_not_found',
  SetupFailed: 'setup_failed',
  AuthenticationRefused: 'authentication_refused',
  ModelRefused: 'model_refused',
  ModelUnavailable: 'model_unavailable',
  StepLimit: 'step_limit',
  BudgetLimit: 'budget_limit',
  TimeLimit: 'time_limit',
  NoProgress: 'no_progress',
  PushRejected: 'push_rejected',
  PathNotAllowed: 'path_not_allowed',
  ToolFailure: 'tool_failure',
  ImageUnavailable: 'image_unavailable',
  Cancelled: 'cancelled',
  PlanRejected: 'plan_rejected',
  WaitExpired: 'wait_expired',
  Superseded: 'superseded',
  SiteUnreadable: 'site_unreadable',
  Internal: 'internal',
} as const;

export type FailureType = (typeof FailureType)[keyof typeof FailureType];

/** Failure details shown to users: `details.failure` of the public job. */
export interface Failure {
  category: FailureType;
  title: string;
  remedy: string;
  retryable: boolean;
}

const descriptions: Record<FailureType, Omit<Failure, 'category'>> = {
  repository_unreachable: {
    title: 'The repository could not be reached',
    remedy: 'Check the repository URL, that the server is up, and that the credential can read it. Then retry the job.',
    retryable: true,
  },
  repository_too_large: {
    title: 'The repository is too large for the worker',
    remedy: 'Raise the limit named in the message, or use a smaller repository.',
    retryable: false,
  },
  ref_not_found: {
    title: 'The branch or commit does not exist in the repository',
    remedy: 'Set source.ref to an existing branch, or omit it to use the default branch.',
    retryable: false,
  },
  setup_failed: {
    title: 'The environment of the job could not be set up',
    remedy: "Correct .docket/environment.yml or the project's environment and secrets. Then retry the job.",
    retryable: true,
  },
  authentication_refused: {
    title: 'The forge rejected the credential',
    remedy: 'Give the worker a credential that can read and push to this repository and open pull requests.',
    retryable: false,
  },
  model_refused: {
    title: 'The model provider rejected the request',
    remedy: "Continue with another model, or check the model name and the worker's provider key.",
    retryable: false,
  },
  model_unavailable: {
    title: 'The model provider did not answer',
    remedy: 'Retry the job when the provider is available again; check its status page.',
    retryable: true,
  },
  step_limit: {
    title: 'The job ran out of steps',
    remedy: 'Split the task into smaller ones, or raise DOCKET_MAX_STEPS.',
    retryable: true,
  },
  budget_limit: {
    title: 'The job ran out of budget',
    remedy: 'Split the task into smaller ones, or raise the token or cost limit named in the message.',
    retryable: true,
  },
  time_limit: {
    title: 'The job timed out',
    remedy: 'Split the task into smaller ones, or raise DOCKET_MAX_JOB_MINUTES.',
    retryable: true,
  },
  no_progress: {
    title: 'The agent was stuck in a loop',
    remedy: 'Send a follow-up message with different instructions, or retry with another model.',
    retryable: true,
  },
  path_not_allowed: {
    title: "The job changed files outside the project's allowed paths",
    remedy: 'Tell the agent to leave them alone, or allow them with "docket project update" (--path, --workflows).',
    retryable: false,
  },
  push_rejected: {
    title: 'The change could not be published',
    remedy:
      "If the message does not say what to do, check branch protection, the credential's permissions and what others pushed to the branch. Then retry the job.",
    retryable: true,
  },
  tool_failure: {
    title: 'The working copy could not be read or written',
    remedy: "Check the worker's disk, then retry the job.",
    retryable: true,
  },
  image_unavailable: {
    title: 'The image that commands run in cannot be used',
    remedy: "Check the image's name, and ask the operator whether the worker may use and pull it. Then retry the job.",
    retryable: true,
  },
  cancelled: {
    title: 'The job was cancelled',
    remedy: 'Send a follow-up message to continue, or create a new job.',
    retryable: false,
  },
  plan_rejected: {
    title: 'The plan was rejected',
    remedy: 'Send a follow-up message for another plan, or create a new job.',
    retryable: false,
  },
  wait_expired: {
    title: 'The deadline for a decision passed',
    remedy: 'Send a follow-up message to continue. DOCKET_WAIT_DAYS sets the deadline.',
    retryable: false,
  },
  superseded: {
    title: 'A newer turn of the job took over',
    remedy: 'Look at the newest turn of the job.',
    retryable: false,
  },
  site_unreadable: {
    title: "The site's pages could not be read",
    remedy: "Check that the site's folder exists and holds pages, such as Markdown, HTML or AsciiDoc files.",
    retryable: false,
  },
  internal: {
    title: 'Something went wrong inside Docket',
    remedy: "Retry the job. If it fails again, check the worker's log.",
    retryable: true,
  },
};

const categories = new Set<string>(Object.values(FailureType));

/** Reports whether a name is a failure type. */
export function isFailureType(name: string | null | undefined): name is FailureType {
  return typeof name === 'string' && categories.has(name);
}

/**
 * Returns the title, remedy and retryability of a category. Derived on read, so that old jobs get improved wording too.
 */
export function failureOf(category: string): Failure {
  const known = isFailureType(category) ? category : FailureType.Internal;
  return { category: known, ...descriptions[known] };
}
