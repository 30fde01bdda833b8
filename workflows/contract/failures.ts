/** Every failure name that crosses a boundary: the `type` of an ApplicationFailure and `details.failure.category` of a job. */
export const FailureType = {
  RepositoryUnreachable: 'repository_unreachable',
  RepositoryTooLarge: 'repository_too_large',
  RefNotFound: 'ref_not_found',
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
  Cancelled: 'cancelled',
  Superseded: 'superseded',
  SiteUnreadable: 'site_unreadable',
  Internal: 'internal',
} as const;

export type FailureType = (typeof FailureType)[keyof typeof FailureType];

/** What a person needs to know about a failed job: `details.failure` of the public job. */
export interface Failure {
  category: FailureType;
  title: string;
  remedy: string;
  retryable: boolean;
}

const descriptions: Record<FailureType, Omit<Failure, 'category'>> = {
  repository_unreachable: {
    title: 'The repository could not be reached',
    remedy:
      'Check the repository address, that the server is up, and that the credential may read it; then start the job again.',
    retryable: true,
  },
  repository_too_large: {
    title: 'The repository is larger than the worker takes',
    remedy: 'Raise the limit that the message names, or use a smaller repository.',
    retryable: false,
  },
  ref_not_found: {
    title: 'The branch or commit does not exist in the repository',
    remedy: 'Name an existing branch in source.ref, or leave it out to use the default branch.',
    retryable: false,
  },
  authentication_refused: {
    title: 'The forge refused the credential',
    remedy: 'Give the worker a credential that may read and push to this repository and open pull requests.',
    retryable: false,
  },
  model_refused: {
    title: 'The model provider refused the request',
    remedy: 'Check the model name and the provider key of the worker.',
    retryable: false,
  },
  model_unavailable: {
    title: 'The model provider did not answer',
    remedy: 'Start the job again when the provider is back; its status page may say when.',
    retryable: true,
  },
  step_limit: {
    title: 'The job used all of its steps',
    remedy: 'Split the task into smaller ones, or raise DOCKET_MAX_STEPS.',
    retryable: true,
  },
  budget_limit: {
    title: 'The job used all of its budget',
    remedy: 'Split the task into smaller ones, or raise the limit on tokens or money that the message names.',
    retryable: true,
  },
  time_limit: {
    title: 'The job ran longer than it may',
    remedy: 'Split the task into smaller ones, or raise DOCKET_MAX_JOB_MINUTES.',
    retryable: true,
  },
  no_progress: {
    title: 'The agent went round in circles',
    remedy: 'Say in a message to the job what it should do differently, or start it again with another model.',
    retryable: true,
  },
  path_not_allowed: {
    title: 'The job changed files that the project does not let it change',
    remedy: 'Tell the agent to leave them alone, or allow them with "docket project update" (--path, --workflows).',
    retryable: false,
  },
  push_rejected: {
    title: 'The forge refused the branch or the pull request',
    remedy:
      'Check branch protection, the permissions of the credential and what others pushed to the branch, then start the job again.',
    retryable: true,
  },
  tool_failure: {
    title: 'The working copy could not be read or written',
    remedy: 'Check the disk of the worker, then start the job again.',
    retryable: true,
  },
  cancelled: {
    title: 'The job was cancelled',
    remedy: 'Send the job a message to go on, or create a new one.',
    retryable: false,
  },
  superseded: {
    title: 'A newer turn of the job took over',
    remedy: 'Look at the newest turn of the job.',
    retryable: false,
  },
  site_unreadable: {
    title: 'The pages of the site could not be read',
    remedy: 'Check the folder of the site and that it holds Markdown, MDX or OpenAPI files.',
    retryable: false,
  },
  internal: {
    title: 'Something went wrong inside Docket',
    remedy: 'Start the job again; if it fails again, look into the log of the worker.',
    retryable: true,
  },
};

const categories = new Set<string>(Object.values(FailureType));

/** Whether a name is one of the failure types. */
export function isFailureType(name: string | null | undefined): name is FailureType {
  return typeof name === 'string' && categories.has(name);
}

/** The title, remedy and retryability of a category; derived when read, so that old jobs gain from better words. */
export function failureOf(category: string): Failure {
  const known = isFailureType(category) ? category : FailureType.Internal;
  return { category: known, ...descriptions[known] };
}
