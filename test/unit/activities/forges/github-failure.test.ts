import { describe, expect, it } from 'vitest';
import { ForgeError } from '../../../../activities/forges/forge.ts';
import { githubFailureOf, isAlreadyExists } from '../../../../activities/forges/github-failure.ts';

const live = new AbortController().signal;
const date = 'Sat, 21 Nov 2026 11:00:00 GMT';

function failure(status: number, { headers = {}, data = {} }: { headers?: object; data?: object } = {}) {
  return Object.assign(new Error('secret-ish text'), { status, response: { status, headers, data } });
}

describe('githubFailureOf', () => {
  it.each([
    [401, {}, 'authentication', null],
    [403, {}, 'authentication', null],
    [404, {}, 'not-found', null],
    [422, {}, 'rejected', null],
    [500, {}, 'unavailable', null],
    [503, { headers: { 'retry-after': '7' } }, 'unavailable', 7_000],
    [429, { headers: { 'retry-after': '120' } }, 'rate-limited', 120_000],
    [429, {}, 'rate-limited', 60_000],
    [403, { headers: { 'retry-after': '30' } }, 'rate-limited', 30_000],
    [403, { headers: { 'retry-after': 'Sat, 21 Nov 2026 11:00:09 GMT', date } }, 'rate-limited', 9_000],
    [403, { data: { message: 'You have exceeded a secondary rate limit.' } }, 'rate-limited', 60_000],
    [
      403,
      { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Date.parse(date) / 1000 + 90), date } },
      'rate-limited',
      90_000,
    ],
  ])('reads %i with %j as %s', (status, answer, kind, retryAfterMs) => {
    const error = githubFailureOf(failure(status, answer), live);
    expect(error).toBeInstanceOf(ForgeError);
    expect(error).toMatchObject({ kind, retryAfterMs });
    expect(error.message).not.toContain('secret-ish');
  });

  it('reads a failure without a response as unavailable, and as aborted once the job is stopped', () => {
    expect(githubFailureOf(new TypeError('fetch failed'), live).kind).toBe('unavailable');
    expect(githubFailureOf(new TypeError('fetch failed'), AbortSignal.abort()).kind).toBe('aborted');
  });

  it('handles a response of any shape', () => {
    for (const data of [null, 'text', [], { errors: 'x' }, { errors: [1, null] }, { message: 5 }]) {
      expect(githubFailureOf(failure(422, { data: data as object }), live).kind).toBe('rejected');
    }
  });

  it.each([
    [{ errors: [{ code: 'custom', message: 'No commits between main and x' }] }, /has no changes/],
    [{ errors: [{ field: 'base', code: 'invalid' }] }, /base branch does not exist/],
    [{ errors: [{ field: 'head', code: 'invalid' }] }, /its branch does not exist/],
  ])('names the reason of %j', (data, sentence) => {
    expect(githubFailureOf(failure(422, { data }), live).message).toMatch(sentence);
  });
});

describe('isAlreadyExists', () => {
  it('recognizes the responses of GitHub and of compatible servers', () => {
    expect(
      isAlreadyExists(failure(422, { data: { errors: [{ message: 'A pull request already exists for a:b.' }] } })),
    ).toBe(true);
    expect(isAlreadyExists(failure(409))).toBe(true);
    expect(isAlreadyExists(failure(422))).toBe(false);
    expect(isAlreadyExists(new Error('x'))).toBe(false);
  });
});
