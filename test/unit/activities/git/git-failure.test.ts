import { describe, expect, it } from 'vitest';
import { GitError } from '../../../../activities/git/git-error.ts';
import { fileFailureOf, gitFailureOf, pushFailureOf } from '../../../../activities/git/git-failure.ts';

const url = 'https://github.com/acme/lamp';

describe('gitFailureOf', () => {
  it.each([
    ['unreachable', `fatal: unable to access '${url}/': Could not resolve host: github.com`],
    ['unreachable', `fatal: unable to access '${url}/': The requested URL returned error: 503`],
    ['unreachable', `fatal: unable to access '${url}/': The requested URL returned error: 429`],
    ['not-found', `fatal: unable to access '${url}/': The requested URL returned error: 302`],
    [
      'rejected',
      `remote: This repo is archived.\nfatal: unable to access '${url}/': The requested URL returned error: 403`,
    ],
    ['unreachable', `remote: This repo is archived.\nfatal: unable to access '${url}/': Could not resolve host: x`],
    ['unreachable', 'error: RPC failed; curl 18 transfer closed\nfatal: early EOF'],
    ['authentication', `fatal: could not read Username for '${url}': terminal prompts disabled`],
    ['authentication', `fatal: Authentication failed for '${url}/'`],
    ['authentication', `fatal: unable to access '${url}/': The requested URL returned error: 403`],
    ['not-found', `remote: Repository not found.\nfatal: repository '${url}/' not found`],
    [
      'not-found',
      "fatal: '/r/lamp.git' does not appear to be a git repository\nfatal: Could not read from remote repository.",
    ],
    ['ref-not-found', "fatal: couldn't find remote ref refs/heads/x"],
    ['ref-not-found', 'fatal: remote error: upload-pack: not our ref 0123456789012345678901234567890123456789'],
    ['disk-full', 'fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output'],
    ['corrupt', 'error: object file objects/ab/cd is empty\nfatal: loose object abcd (stored in x) is corrupt'],
    ['corrupt', "fatal: not a git repository: '/x'"],
    ['corrupt', 'error: inflate: data stream error\nfatal: pack has bad object at offset 12: inflate returned -3'],
    ['corrupt', "fatal: Unable to create '/x/index.lock': File exists."],
    ['other', 'error: something nobody has seen'],
    ['other', 'remote: No space left on device\nerror: something'],
  ])('distinguishes %s from %j', (kind, stderr) => {
    expect(gitFailureOf({ stderr, secrets: [] }).kind).toBe(kind);
  });

  it('names the path that git does not check out', () => {
    expect(gitFailureOf({ stderr: "error: invalid path 'a\\.git'\n", secrets: [] }).message).toMatch(
      /Rename it in the repository/,
    );
  });

  it('says that a repository is damaged on its server, which git also reports as a connection that ended', () => {
    const stderr =
      'fatal: git upload-pack: aborting due to possible repository corruption on the remote side.\nfatal: early EOF\n';
    expect(gitFailureOf({ stderr, secrets: [] })).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('Run git fsck there'),
    });
  });

  it('uses a fixed sentence and keeps a redacted detail', () => {
    const stderr = `fatal: unable to access 'https://bot:hunter22@github.com/': SECRET99 Could not resolve host`;
    const error = gitFailureOf({ stderr, secrets: ['SECRET99'] });
    expect(error.message).toBe("The repository's server did not respond to git.");
    expect(`${error.stack} ${error.detail}`).not.toMatch(/hunter22|SECRET99/);
  });
});

describe('pushFailureOf', () => {
  it.each([
    ['stale', '[rejected] (stale info)', /commits that this job did not make/],
    ['stale', '[rejected] (fetch first)', /commits that this job did not make/],
    ['rejected', '[remote rejected] (protected branch hook declined)', /protected/],
    ['rejected', '[remote rejected] (pre-receive hook declined)', /hooks declined/],
    ['rejected', '[remote rejected] (permission denied)', /cannot write/],
    ['rejected', '[remote rejected] (branch is currently checked out)', /Check out another branch there/],
    [
      'rejected',
      '[remote rejected] (refusing to allow a GitHub App to create or update workflow `.github/workflows/a.yml` without `workflows` permission)',
      /workflow files/,
    ],
    [
      'rejected',
      "[remote rejected] (cannot lock ref 'refs/heads/docket/a': 'refs/heads/docket' exists; cannot create 'refs/heads/docket/a')",
      /a branch named "docket"/,
    ],
    ['rejected', '[remote rejected] (internal server error)', /rejected the push/],
  ])('distinguishes %s from %j', (kind, reason, sentence) => {
    const error = pushFailureOf({ reason, stderr: '' });
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(sentence);
  });
});

describe('a push that a hook declined', () => {
  const reason = '[remote rejected] (pre-receive hook declined)';
  it.each([
    ['remote: Gitea: Not allowed to push to protected branch docket/x', /branch is protected/],
    ['remote: GitLab: You are not allowed to push code to protected branches on this project.', /branch is protected/],
    ['remote: Gitea: User permission denied for writing.', /credential cannot write/],
    [
      'remote: refusing to allow a GitHub App to create or update workflow `a` without `workflows` permission',
      /workflow/,
    ],
    ['remote: the words of somebody', /one of its hooks/],
    ['error: protected branch', /one of its hooks/],
  ])('is recognized by the hook’s output: %j', (stderr, sentence) => {
    expect(pushFailureOf({ reason, stderr })).toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(sentence),
    });
  });

  it('is never mistaken for another kind of failure because of that output', () => {
    const stderr = 'remote: stale info, already exists, No space left on device';
    expect(pushFailureOf({ reason, stderr }).kind).toBe('rejected');
  });
});

describe('fileFailureOf', () => {
  it('reports a full disk as a GitError and passes on everything else', () => {
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
    expect(fileFailureOf(full)).toMatchObject({ name: 'GitError', kind: 'disk-full' });
    const other = new Error('x');
    expect(fileFailureOf(other)).toBe(other);
    const own = new GitError('stale');
    expect(fileFailureOf(own)).toBe(own);
  });
});
