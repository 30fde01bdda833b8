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
export function foreignOrigin(): ApiError {
  return new ApiError(403, "This API key may not be used on this website. Add the website's origin to the key.");
}

/** Returns the error for a key with allowed origins in a request that comes from no page. */
export function noOrigin(): ApiError {
  const sentence = 'This API key may be used on websites only. Set its allowsNoOrigin, or use another key.';
  return new ApiError(403, sentence);
}

/** Returns the error for a request with a session cookie that no page of this service has sent. */
export function foreignPage(): ApiError {
  return new ApiError(403, 'Cross-site request refused. Send it from a page of this service, or use an API key.');
}

/** Returns one error for a missing job and for one of another organization or project, so that neither is revealed. */
export function jobNotFound(): ApiError {
  return new ApiError(404, 'The job was not found.');
}

/** Returns the error for a message to a running turn that already has the maximum number of messages. */
export function turnFull(): ApiError {
  return new ApiError(
    409,
    'The current turn has reached its message limit. Send this message after the turn has ended.',
  );
}

export function projectNotFound(): ApiError {
  return new ApiError(404, 'The project was not found.');
}

export function pullRequestNotFound(): ApiError {
  return new ApiError(404, 'The pull request was not found.');
}

export function pullRequestOver(state: string): ApiError {
  return new ApiError(409, `The pull request is ${state}. This action requires an open one.`);
}

/** Returns the error for an action that only the local forge has. */
export function pullRequestElsewhere(forge: string): ApiError {
  return new ApiError(409, `This pull request is on another forge (${forge}). Close it or mark it as ready there.`);
}

/** Returns one error for a missing webhook and for one of another project. */
export function webhookNotFound(): ApiError {
  return new ApiError(404, 'The webhook was not found.');
}

export function deliveryNotFound(): ApiError {
  return new ApiError(404, 'The delivery was not found.');
}

export function webhookDisabled(): ApiError {
  return new ApiError(409, 'The webhook is disabled; enable it first.');
}

export function tooManyWebhooks(most: number): ApiError {
  return new ApiError(409, `A project has at most ${most} webhooks; delete one first.`);
}

export function pathNotFound(): ApiError {
  return new ApiError(404, 'Not found. /openapi.json lists all endpoints.');
}

export function methodNotAllowed(allowed: string): ApiError {
  return new ApiError(405, `This address accepts ${allowed} only.`, { Allow: allowed });
}

export function idempotencyConflict(what: 'job' | 'message'): ApiError {
  return new ApiError(
    409,
    `This Idempotency-Key was already used with a different body. Use a new key for a new ${what}.`,
  );
}

export function jobArchived(): ApiError {
  return new ApiError(409, 'The job is archived; unarchive it or create a new job.');
}

export function jobActive(): ApiError {
  return new ApiError(409, 'The job is active; cancel it or wait for its end, then archive it.');
}

/** Returns the error for a decision about a plan that cannot be made now. */
export function planNotDecidable(sentence: string): ApiError {
  return new ApiError(409, sentence);
}

export function turnNotFound(turns: number): ApiError {
  return new ApiError(404, `The turn was not found; this job has turns 1 to ${turns}.`);
}

export function historyNotFound(sentence: string): ApiError {
  return new ApiError(404, sentence);
}

export function stepNotFound(): ApiError {
  return new ApiError(404, 'The step was not found.');
}

export function promptTooLarge(): ApiError {
  return new ApiError(409, 'The conversation before this step is too long to show. Read it with "docket job replay".');
}

export function imageNotFound(): ApiError {
  return new ApiError(404, 'The image was not found.');
}

export function stepChangeNotStored(): ApiError {
  return new ApiError(
    404,
    'The change of this step alone is not stored. The diff of the job, with this turn and step, has all changes up to it.',
  );
}

/** Returns the error for the history of a running turn, which is still in Temporal. */
export function historyUnderWay(): ApiError {
  return new ApiError(409, 'The turn is still running. Its history is available after it has ended.');
}

export function historyWaiting(): ApiError {
  return new ApiError(409, 'The turn has ended, but its history is not stored yet. Try again in a moment.', {
    'Retry-After': '1',
  });
}

/** Returns the error for a token of a reader that is expired, forged or meant for another site. */
export function readerTokenRefused(reason: string): ApiError {
  return new ApiError(401, `The X-Reader-Token was refused: ${reason}. Get a new one for this reader.`);
}

export function noReaderTokens(): ApiError {
  return new ApiError(401, 'This site accepts no X-Reader-Token. Set its readerTokens, or omit the header.');
}

export function stepNotFinished(turn: number, lastStep: number | null): ApiError {
  const there = lastStep === null ? 'there is none yet' : `the last one is ${lastStep}`;
  return new ApiError(409, `A fork needs a finished step of turn ${turn}; ${there}.`);
}

export function forkNeedsPrompt(): ApiError {
  return new ApiError(409, 'The agent had already finished at this step. Send a prompt to continue from it.');
}

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

export function tooManyStreams(most: number): ApiError {
  const sentence = `The organization already has ${most} open event streams. Close one first.`;
  return new ApiError(429, sentence, { 'Retry-After': '10' });
}

export function tooManyAnswers(most: number): ApiError {
  const sentence = `This IP address already has ${most} answers in progress. Wait for one to finish.`;
  return new ApiError(429, sentence, { 'Retry-After': '5' });
}

export function storeUnavailable(): ApiError {
  return new ApiError(503, 'The service cannot reach its database; try again in a moment.', { 'Retry-After': '1' });
}

export function connectionsTaken(): ApiError {
  const sentence = 'Other requests of the organization use its share of the database; try again in a moment.';
  return new ApiError(503, sentence, { 'Retry-After': '1' });
}

export function readTooSlow(): ApiError {
  return new ApiError(503, 'The request reads too much data at once. Narrow it, or try again later.', {
    'Retry-After': '10',
  });
}

export function draining(): ApiError {
  return new ApiError(503, 'This process is shutting down.', { 'Retry-After': '1' });
}

/** Returns one error for a missing site and for one of another organization. */
export function siteNotFound(): ApiError {
  return new ApiError(404, 'The site was not found.');
}

export function domainTaken(): ApiError {
  return new ApiError(409, 'Another site of the organization has this domain. Choose another one.');
}

/** Returns one error for a missing key and for one of another organization. */
export function keyNotFound(): ApiError {
  return new ApiError(404, 'The key was not found.');
}

export function pageNotFound(): ApiError {
  return new ApiError(404, 'The page was not found.');
}

/** Returns one error for a missing answer and for one of another site. */
export function messageNotFound(): ApiError {
  return new ApiError(404, 'The answer was not found in a conversation of this site.');
}

export function gapNotFound(): ApiError {
  return new ApiError(404, 'The gap was not found.');
}

export function gapDismissed(): ApiError {
  return new ApiError(409, 'The gap is dismissed; restore it first.');
}

export function threadNotFound(): ApiError {
  return new ApiError(404, 'The conversation was not found.');
}

export function siteNotIndexed(): ApiError {
  return new ApiError(503, 'The site has no index yet; it is being built. Try again in a moment.', {
    'Retry-After': '2',
  });
}

/** Returns the error for an unexpected problem, whose cause is in the log only. */
export function internalError(): ApiError {
  return new ApiError(500, 'Internal error. Search the log for the request id.');
}

/** Returns the error for thread work that was rejected because too much is queued, or stopped at its deadline. */
export function tooMuchWork(): ApiError {
  return new ApiError(503, 'This process is too busy for this request. Try again in a moment.', {
    'Retry-After': '5',
  });
}

/** Returns the error for a spent daily budget. Days are counted in UTC. */
export function budgetSpent(): ApiError {
  const seconds = Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1_000);
  const sentence =
    'The organization has reached its daily budget for jobs and answers (DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY), counting those in progress at their highest possible cost. Try again when they are done, or after 00:00 UTC.';
  return new ApiError(429, sentence, { 'Retry-After': String(seconds) });
}

export function answersUnpriced(model: string): ApiError {
  const sentence = `The cost of answers cannot be limited because the price of ${model} is unknown. The operator can add it to DOCKET_MODEL_PRICES.`;
  return new ApiError(503, sentence, { 'Retry-After': '600' });
}

/** Returns the error for an answer that broke off before it was sent. */
export function answerFailed(sentence: string): ApiError {
  return new ApiError(503, sentence, { 'Retry-After': '1' });
}

export function overloaded(): ApiError {
  return new ApiError(503, 'This process is too busy for another answer. Try again in a moment.', {
    'Retry-After': '1',
  });
}
