/** An error response with its status. `message` is the sentence sent to the client. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Returns a function that makes an error whose sentence is always the same. */
export function fixed(status: number, sentence: string, retryAfterSeconds?: number): () => ApiError {
  const headers = retryAfterSeconds === undefined ? undefined : { 'Retry-After': String(retryAfterSeconds) };
  return () => new ApiError(status, sentence, headers);
}

export function invalidRequest(sentence: string): ApiError {
  return new ApiError(400, sentence);
}

export function unauthorized(sentence: string): ApiError {
  return new ApiError(401, sentence, { 'WWW-Authenticate': 'Bearer' });
}

/** Returns the error for a valid key of the wrong kind. */
export function wrongKeyKind(needed: 'admin' | 'assistant'): ApiError {
  return new ApiError(403, `This endpoint requires an ${needed} key. Send the request with a key of that kind.`);
}

/** Returns the error for a key that is used in a page of an origin that it does not allow. */
export const foreignOrigin = fixed(
  403,
  "This API key may not be used on this website. Add the website's origin to the key.",
);
/** Returns the error for a key with allowed origins in a request that comes from no page. */
export const noOrigin = fixed(
  403,
  'This API key may be used on websites only. Set its allowsNoOrigin, or use another key.',
);
/** Returns the error for a request with a session cookie that no page of this service has sent. */
export const foreignPage = fixed(
  403,
  'Cross-site request refused. Send it from a page of this service, or use an API key.',
);
/** Returns one error for a missing job and for one of another organization or project, so that neither is revealed. */
export const jobNotFound = fixed(404, 'The job was not found.');
/** Returns the error for a message to a running turn that already has the maximum number of messages. */
export const turnFull = fixed(
  409,
  'The current turn has reached its message limit. Send this message after the turn has ended.',
);
export const projectNotFound = fixed(404, 'The project was not found.');
export const pullRequestNotFound = fixed(404, 'The pull request was not found.');

export function pullRequestOver(state: string): ApiError {
  return new ApiError(409, `The pull request is ${state}. This action requires an open one.`);
}

/** Returns the error for an action that only the local forge has. */
export function pullRequestElsewhere(forge: string): ApiError {
  return new ApiError(409, `This pull request is on another forge (${forge}). Close it or mark it as ready there.`);
}

/** Returns one error for a missing webhook and for one of another project. */
export const webhookNotFound = fixed(404, 'The webhook was not found.');
export const deliveryNotFound = fixed(404, 'The delivery was not found.');

export function previousSecretValid(until: string): ApiError {
  return new ApiError(
    409,
    `Messages are signed with the previous secret, too, until ${until}. Rotate the secret after that, or create another webhook.`,
  );
}

export const webhookDisabled = fixed(409, 'The webhook is disabled; enable it first.');

export function tooManyWebhooks(max: number): ApiError {
  return new ApiError(409, `A project has at most ${max} webhooks; delete one first.`);
}

export const pathNotFound = fixed(404, 'Not found. /openapi.json lists all endpoints.');

export function methodNotAllowed(allowed: string): ApiError {
  return new ApiError(405, `This address accepts ${allowed} only.`, { Allow: allowed });
}

export function idempotencyConflict(what: 'job' | 'message'): ApiError {
  return new ApiError(
    409,
    `This Idempotency-Key was already used with a different body. Use a new key for a new ${what}.`,
  );
}

export const jobArchived = fixed(409, 'The job is archived; unarchive it or create a new job.');
export const jobActive = fixed(409, 'The job is active; cancel it or wait until it ends, then archive it.');

/** Returns the error for a decision about a plan that cannot be made now. */
export function planNotDecidable(sentence: string): ApiError {
  return new ApiError(409, sentence);
}

/** Returns the error for a message to a turn that is no longer the newest. */
export const turnOutdated = fixed(
  409,
  'The job has changed since you read it, so this message was not sent. Read the job, then send the message again.',
);
/** Returns the error for a plan or a question of a turn that does not exist. */
export const turnUnknown = fixed(409, 'The job has no such turn. Send details.waiting.turn as you have read it.');

/** Returns the error for a message that requests a merge when none is possible. */
export const baseNotMergeable = fixed(
  409,
  'mergeBase requires a job that is not running and whose pull request is open. Omit it, or wait until the turn ends.',
);

export function turnNotFound(turns: number): ApiError {
  return new ApiError(404, `The turn was not found; this job has turns 1 to ${turns}.`);
}

export function historyNotFound(sentence: string): ApiError {
  return new ApiError(404, sentence);
}

export const stepNotFound = fixed(404, 'The step was not found.');
export const promptTooLarge = fixed(
  409,
  'The conversation before this step is too long to show. Read it with "docket job replay".',
);
export const imageNotFound = fixed(404, 'The image was not found.');
export const stepChangeNotStored = fixed(
  404,
  'The change of this step alone is not stored. The diff of the job, with this turn and step, has all changes up to it.',
);
/** Returns the error for the history of a running turn, which is still in Temporal. */
export const historyNotReady = fixed(409, 'The turn is still running. Its history is available after it has ended.');
export const historyWaiting = fixed(
  409,
  'The turn has ended, but its history is not stored yet. Try again in a moment.',
  1,
);

/** Returns the error for a token of a reader that is expired, forged or meant for another site. */
export function readerTokenRefused(reason: string): ApiError {
  return new ApiError(401, `The X-Reader-Token was refused: ${reason}. Get a new one for this reader.`);
}

export const noReaderTokens = fixed(
  401,
  'This site accepts no X-Reader-Token. Set its readerTokens, or omit the header.',
);

export function stepNotFinished(turn: number, lastStep: number | null): ApiError {
  const there = lastStep === null ? 'there is none yet' : `the last one is ${lastStep}`;
  return new ApiError(409, `A fork needs a finished step of turn ${turn}; ${there}.`);
}

export const forkNeedsPrompt = fixed(
  409,
  'The agent had already finished at this step. Send a prompt to continue from it.',
);

export function bodyTooLarge(maxBytes: number): ApiError {
  return new ApiError(413, `The body is larger than ${maxBytes} bytes.`);
}

export function unsupportedMediaType(sentence: string): ApiError {
  return new ApiError(415, sentence);
}

export function tooManyRequests(retryAfterSeconds: number, headers: Record<string, string> = {}): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds));
  return new ApiError(429, `Too many requests; try again in ${seconds} seconds.`, {
    ...headers,
    'Retry-After': String(seconds),
  });
}

export function tooManyStreams(max: number): ApiError {
  const sentence = `The organization already has ${max} open event streams. Close one first.`;
  return new ApiError(429, sentence, { 'Retry-After': '10' });
}

export function tooManyAnswers(max: number): ApiError {
  const sentence = `This IP address already has ${max} answers in progress. Wait for one to finish.`;
  return new ApiError(429, sentence, { 'Retry-After': '5' });
}

export const storeUnavailable = fixed(503, 'The service cannot reach its database; try again in a moment.', 1);
export const connectionsTaken = fixed(
  503,
  'Other requests of the organization use its share of the database; try again in a moment.',
  1,
);
export const readTooSlow = fixed(503, 'The request reads too much data at once. Narrow it, or try again later.', 10);
export const draining = fixed(503, 'This process is shutting down.', 1);
/** Returns one error for a missing site and for one of another organization. */
export const siteNotFound = fixed(404, 'The site was not found.');
export const domainTaken = fixed(409, 'Another site of the organization has this domain. Choose another one.');
/** Returns one error for a missing key and for one of another organization. */
export const keyNotFound = fixed(404, 'The key was not found.');
export const pageNotFound = fixed(404, 'The page was not found.');
/** Returns one error for a missing answer and for one of another site. */
export const messageNotFound = fixed(404, 'The answer was not found in a conversation of this site.');
export const gapNotFound = fixed(404, 'The gap was not found.');
export const gapDismissed = fixed(409, 'The gap is dismissed; restore it first.');
export const threadNotFound = fixed(404, 'The conversation was not found.');
export const siteNotIndexed = fixed(503, 'The site has no index yet; it is being built. Try again in a moment.', 2);
/** Returns the error for an unexpected problem, whose cause is in the log only. */
export const internalError = fixed(500, 'Internal error. Search the log for the request id.');
/** Returns the error for thread work that was rejected because too much is queued, or stopped at its deadline. */
export const tooMuchWork = fixed(503, 'This process is too busy for this request. Try again in a moment.', 5);

/** Returns the error for a spent daily budget. Days are counted in UTC. */
export function budgetSpent(retryAfterSeconds: number): ApiError {
  const sentence =
    'The organization has reached its daily budget for jobs and answers (DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY), counting those in progress at their highest possible cost. Try again when they are done, or after 00:00 UTC.';
  return new ApiError(429, sentence, { 'Retry-After': String(retryAfterSeconds) });
}

export function answersUnpriced(model: string): ApiError {
  const sentence = `The cost of answers cannot be limited because the price of ${model} is unknown. The operator can add it to DOCKET_MODEL_PRICES.`;
  return new ApiError(503, sentence, { 'Retry-After': '600' });
}

/** Returns the error for an answer that was interrupted before it was sent. */
export function answerFailed(sentence: string): ApiError {
  return new ApiError(503, sentence, { 'Retry-After': '1' });
}

export const overloaded = fixed(503, 'This process is too busy for another answer. Try again in a moment.', 1);
