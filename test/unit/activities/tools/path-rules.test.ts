import { describe, expect, it } from 'vitest';
import { createPathRules, problemWithCall } from '../../../../activities/tools/path-rules.ts';

const open = createPathRules({ allowedPaths: [], mayChangeWorkflows: false });
const docs = createPathRules({ allowedPaths: ['docs/**', 'README.md'], mayChangeWorkflows: true });

describe('the paths that a job may change', () => {
  it.each([
    '.github/workflows',
    '.github/workflows/ci.yml',
    '.GitHub/Workflows/ci.yml',
    '.github',
    '.gitlab-ci.yml',
    '.gitea/workflows/a.yaml',
    '.forgejo/workflows/a.yaml',
  ])('exclude what the forge runs automatically: %s', (path) => {
    expect(open.problemWith({ path })).toMatch(/run by the forge/);
    expect(createPathRules({ allowedPaths: [], mayChangeWorkflows: true }).problemWith({ path })).toBeNull();
  });

  it('are all others if the project names none', () => {
    for (const path of ['a', 'docs/b.md', '.github/CODEOWNERS', '.github/workflows.md'])
      expect(open.problemWith({ path })).toBeNull();
  });

  it('are those that match the project’s globs', () => {
    for (const path of ['docs/a.md', 'docs/b/c.md', 'README.md', 'b/README.md'])
      expect(docs.problemWith({ path })).toBeNull();
    for (const path of ['src/a.ts', 'docs', 'README.txt'])
      expect(docs.problemWith({ path })).toMatch(/only docs\/\*\*, README/);
  });

  it('exclude links into .git, wherever it is', () => {
    for (const target of ['.git', '.git/config', '../.GIT', 'a/../.git/hooks', '/srv/x/.git', '..\\.git\\config'])
      expect(open.problemWith({ path: 'docs/link', target })).toMatch(/docs\/link is a link into \.git/);
    for (const target of ['a.git', '.gitignore', '../README.md', null])
      expect(open.problemWith({ path: 'docs/link', target })).toBeNull();
  });

  it('are found in every field of a call, however they are spelled', () => {
    expect(problemWithCall(docs, { path: 'docs/../src/a.ts' })).toMatch(/src\/a\.ts may not be changed/);
    expect(problemWithCall(docs, { from: 'docs/a.md', to: './src//a.md' })).toMatch(/src\/a\.md may not/);
    expect(problemWithCall(open, { path: './.github/./workflows/x.yml' })).toMatch(/run by the forge/);
    for (const input of [{ path: './docs/a.md' }, { path: '../..' }, { path: 5 }, null, 'text'])
      expect(problemWithCall(docs, input)).toBeNull();
  });
});
