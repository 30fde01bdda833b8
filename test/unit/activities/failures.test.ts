import { APICallError } from 'ai';
import { describe, expect, it } from 'vitest';
import { ForgeError } from '../../../activities/forges/forge.ts';
import { GitError } from '../../../activities/git/git-error.ts';
import { verdictOf } from '../../../activities/failures.ts';
import { ModelCallError } from '../../../activities/model/model-failures.ts';
import { SnapshotRemovedError } from '../../../db/jobs/snapshot-removed.ts';
import { SealedError } from '../../../lib/encryption/cipher.ts';
import { UnknownModelError } from '../../../models/registry.ts';

const secret = 'sk-very-secret-1234567890';

function buildCallFailure(statusCode: number | undefined, responseHeaders?: Record<string, string>) {
  const cause = new APICallError({
    message: `refused ${secret}`,
    url: 'https://model.example',
    requestBodyValues: { secret },
    statusCode,
    responseHeaders,
    responseBody: secret,
  });
  return new ModelCallError('failed', { cause, model: 'compatible/one' });
}

it('a value whose key is missing waits, and names the key', () => {
  const message = 'The encryption key k1 is missing. Add it to DOCKET_ENCRYPTION_KEYS.';
  expect(verdictOf(new SealedError(message))).toMatchObject({ tolerated: null, message });
});

describe('a failure of the model', () => {
  it.each([400, 401, 403, 404, 422])('with status %d is final', (status) => {
    expect(verdictOf(buildCallFailure(status))).toMatchObject({ category: 'model_refused', tolerated: 0 });
  });

  it.each([408, 409, 425, 429, 500, 503, 529])('with status %d is retried', (status) => {
    const { category, tolerated } = verdictOf(buildCallFailure(status));
    expect(category).toBe('model_unavailable');
    expect(tolerated).toBeGreaterThan(3);
  });

  it('of the transport, or an answer that does not parse, is retried', () => {
    expect(verdictOf(buildCallFailure(undefined)).category).toBe('model_unavailable');
    expect(verdictOf(buildCallFailure(200)).category).toBe('model_unavailable');
    expect(
      verdictOf(new ModelCallError('failed', { cause: new TypeError('terminated'), model: 'compatible/one' })).category,
    ).toBe('model_unavailable');
  });

  it('waits as long as the provider asks for', () => {
    expect(verdictOf(buildCallFailure(429, { 'retry-after': '7' })).retryAfterMs).toBe(7_000);
    expect(verdictOf(buildCallFailure(429, { 'retry-after-ms': '250', 'retry-after': '1' })).retryAfterMs).toBe(250);
    expect(verdictOf(buildCallFailure(429, { 'retry-after': 'soon' })).retryAfterMs).toBeNull();
    expect(verdictOf(buildCallFailure(429, { 'retry-after': '999999' })).retryAfterMs).toBe(3_600_000);
    const past = new Date(Date.now() - 60_000).toUTCString();
    expect(verdictOf(buildCallFailure(503, { 'retry-after': past })).retryAfterMs).toBe(0);
  });

  it('never quotes the provider', () => {
    for (const status of [undefined, 200, 401, 500]) {
      expect(JSON.stringify(verdictOf(buildCallFailure(status)))).not.toContain(secret);
    }
  });

  it('due to a missing key names the remedy', () => {
    const error = new UnknownModelError('The model "openai/x" needs OPENAI_API_KEY to be set.', 'openai/x');
    expect(verdictOf(error)).toMatchObject({ category: 'model_refused', tolerated: 0, message: error.message });
  });
});

describe('a failure of git or the forge', () => {
  it.each([
    [new GitError('unreachable'), 'repository_unreachable', true],
    [new GitError('not-found'), 'repository_unreachable', false],
    [new GitError('ref-not-found'), 'ref_not_found', false],
    [new GitError('authentication'), 'authentication_refused', false],
    [new GitError('rejected'), 'push_rejected', false],
    [new GitError('stale'), 'push_rejected', true],
    [new GitError('disk-full'), 'tool_failure', true],
    [new ForgeError('authentication', 'No token.'), 'authentication_refused', false],
    [new ForgeError('rejected', 'No.'), 'push_rejected', false],
    [new ForgeError('unavailable', 'Down.'), 'repository_unreachable', true],
  ])('%s becomes %s', (error, category, isRetried) => {
    const verdict = verdictOf(error);
    expect(verdict.category).toBe(category);
    expect(verdict.tolerated !== 0).toBe(isRetried);
  });

  it('passes on how long a rate limit lasts', () => {
    expect(verdictOf(new ForgeError('rate-limited', 'Slow.', { retryAfterMs: 90_000 })).retryAfterMs).toBe(90_000);
  });
});

describe('any other failure', () => {
  it('of the database is never counted against the job', () => {
    const error = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
    expect(verdictOf(error).tolerated).toBeNull();
  });

  it('of the disk counts as one of the working copy', () => {
    expect(verdictOf(Object.assign(new Error('write'), { code: 'ENOSPC' })).category).toBe('tool_failure');
  });

  it('of files that were deleted to free space is final and says so', () => {
    const { category, tolerated, message } = verdictOf(new SnapshotRemovedError());
    expect({ category, tolerated }).toEqual({ category: 'tool_failure', tolerated: 0 });
    expect(message).toContain('were deleted to free space');
  });

  it('is internal and quotes nothing', () => {
    const verdict = verdictOf(new RangeError(secret));
    expect(verdict.category).toBe('internal');
    expect(verdict.message).not.toContain(secret);
  });
});
