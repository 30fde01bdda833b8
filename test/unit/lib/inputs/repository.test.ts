import { describe, expect, it } from 'vitest';
import { parseRepository, repositoryUrl } from '../../../../lib/inputs/repository.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const rules = {
  allowedHosts: ['github.com', 'git.example.com', 'forge.example.com:8443'],
  localRoot: '/srv/repositories',
};

describe('parseRepository', () => {
  it.each([
    ['https://github.com/acme/docs', 'https://github.com/acme/docs'],
    ['https://github.com/acme/docs.git', 'https://github.com/acme/docs'],
    ['https://github.com/acme/docs/', 'https://github.com/acme/docs'],
    ['https://github.com/acme/docs.git/', 'https://github.com/acme/docs'],
    ['HTTPS://GitHub.COM/Acme/Docs', 'https://github.com/Acme/Docs'],
    ['https://git.example.com/group/sub/name', 'https://git.example.com/group/sub/name'],
    ['https://forge.example.com:8443/acme/docs', 'https://forge.example.com:8443/acme/docs'],
    ['/srv/repositories/lamp.git', '/srv/repositories/lamp.git'],
    ['/srv/repositories/a/b/', '/srv/repositories/a/b'],
    ['/srv/repositories/with space', '/srv/repositories/with space'],
    ['file:///srv/repositories/lamp.git', '/srv/repositories/lamp.git'],
    ['FILE://localhost/srv/repositories/with%20space/', '/srv/repositories/with space'],
    ['file:///srv/repositories/%C3%A9%3F', '/srv/repositories/é?'],
  ])('reads %s as %s', (text, repository) => {
    expect(parseRepository(text, rules)).toMatchObject({ ok: true, repository });
  });

  it.each([
    ['ssh://git@github.com/acme/docs', 'ssh://git@github.com/acme/docs'],
    ['ssh://git@github.com:22/acme/docs.git', 'ssh://git@github.com/acme/docs'],
    ['SSH://git@GitHub.COM/Acme/Docs/', 'ssh://git@github.com/Acme/Docs'],
    ['git@github.com:acme/docs.git', 'ssh://git@github.com/acme/docs'],
    ['git@github.com:/acme/docs', 'ssh://git@github.com/acme/docs'],
    ['org-123@git.example.com:group/sub/name', 'ssh://org-123@git.example.com/group/sub/name'],
    ['ssh://git@forge.example.com:8443/acme/docs', 'ssh://git@forge.example.com:8443/acme/docs'],
  ])('reads %s as %s where ssh is allowed, and nowhere else', (text, repository) => {
    const withSsh = { ...rules, mayUseSsh: true };
    expect(parseRepository(text, withSsh)).toMatchObject({ ok: true, kind: 'ssh', repository });
    expect(parseRepository(repository, withSsh)).toEqual(parseRepository(text, withSsh));
    expect(parseRepository(text, rules)).toMatchObject({ ok: false, problem: expect.stringMatching(/uses ssh/) });
  });

  it.each([
    'ssh://github.com/acme/docs',
    'ssh://@github.com/acme/docs',
    'ssh://-oProxyCommand=x@github.com/acme/docs',
    'ssh://git@-oProxyCommand=x/acme/docs',
    'ssh://git:secret@github.com/acme/docs',
    'ssh://git@evil.example@github.com/acme/docs',
    'ssh://git@github.com@evil.example/acme/docs',
    'ssh://git@evil.example/acme/docs',
    'ssh://git@github.com:2222/acme/docs',
    'ssh://git@forge.example.com/acme/docs',
    'ssh://git@github.com/acme',
    'ssh://git@github.com/../docs',
    "ssh://git@github.com/acme/do'cs",
    'ssh://git@github.com/acme/docs?x',
    'ssh://git@[::1]/acme/docs',
    'git@github.com:',
    'git@github.com:acme',
    'git@github.com:2222/acme/docs',
    'git@evil.example:acme/docs',
    '-oProxyCommand=x@github.com:acme/docs',
    'git@-oProxyCommand=x:acme/docs',
    'git@github.com -oProxyCommand=x:acme/docs',
    'git+ssh://git@github.com/acme/docs',
  ])('refuses %j with one sentence, even where ssh is allowed', (text) => {
    const parsed = parseRepository(text, { ...rules, mayUseSsh: true });
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.problem).toMatch(/^The repository [^\n]+\.$/);
  });

  it('returns host, owner and name', () => {
    expect(parseRepository('https://git.example.com/group/sub/name.git', rules)).toEqual({
      ok: true,
      kind: 'https',
      repository: 'https://git.example.com/group/sub/name',
      host: 'git.example.com',
      owner: 'group/sub',
      name: 'name',
    });
  });

  it.each([
    '',
    ' ',
    'docs',
    './docs',
    '../docs',
    'acme/docs',
    'http://github.com/acme/docs',
    'ssh://git@github.com/acme/docs',
    'git://github.com/acme/docs',
    'git@github.com:acme/docs.git',
    'github.com:acme/docs',
    'ext::sh -c "touch /tmp/x"',
    'ext::https://github.com/acme/docs',
    'fd::7',
    'javascript:alert(1)',
    '-uhttps://github.com/acme/docs',
    '--upload-pack=x',
    ' https://github.com/acme/docs',
    'https://github.com/acme/docs\n',
    'https://github.com/acme/do\tcs',
    'https://github.com/acme/do\0cs',
    'https://user@github.com/acme/docs',
    'https://user:secret@github.com/acme/docs',
    'https://:@github.com/acme/docs',
    'https://github.com@evil.example/acme/docs',
    'https://evil.example/github.com/acme/docs',
    'https://github.com.evil.example/acme/docs',
    'https://github.com./acme/docs',
    'https://github.com:443/acme/docs',
    'https://github.com:80/acme/docs',
    'https://github.com:/acme/docs',
    'https://forge.example.com/acme/docs',
    'https://127.0.0.1/acme/docs',
    'https://[::1]/acme/docs',
    'https:github.com/acme/docs',
    'https:/github.com/acme/docs',
    'https:///github.com/acme/docs',
    'https:\\\\github.com\\acme\\docs',
    'https://github.com\\@evil.example/acme/docs',
    'https://github.com',
    'https://github.com/',
    'https://github.com/acme',
    'https://github.com//docs',
    'https://github.com/acme//docs',
    'https://github.com/acme/docs//',
    'https://github.com/acme/..',
    'https://github.com/acme/../docs',
    'https://github.com/acme/./docs',
    'https://github.com/acme/.git',
    'https://github.com/acme/docs.git.git',
    'https://github.com/acme/docs?ref=x',
    'https://github.com/acme/docs#main',
    'https://github.com/acme/%2e%2e',
    'https://github.com/acme/do cs',
    'https://github.com/acme/docs/tree/main',
    'https://gıthub.com/acme/docs',
    `https://github.com/acme/${'a'.repeat(3000)}`,
    '/',
    '/etc',
    '/srv/repositories',
    '/srv/repositories/',
    '/srv/repositories-other/x',
    '/srv/repositories/../x',
    '/srv/repositories/./x',
    '/srv/repositories//x',
    '/srv/repositories/x//',
    '/srv/repositories/x\n',
    '//evil.example/x',
    'file:///etc',
    'file://evil.example/srv/repositories/x',
    'file:/srv/repositories/x',
    'file:///srv/repositories/../x',
    'file:///srv/repositories/%2e%2e/x',
    'file:///srv/repositories%2F..%2fx',
    'file:////srv/repositories/x',
    'file:///srv/repositories/x%00',
    'file:///srv/repositories/x%0A',
    'file:///srv/repositories/%ff',
    'file:///srv/repositories/x?y',
    'file:///srv/repositories/x#y',
  ])('refuses %j with one sentence', (text) => {
    const parsed = parseRepository(text, rules);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.problem).toMatch(/^The repository [^\n]+\.$/);
  });

  it('refuses every path if no local root is configured', () => {
    expect(parseRepository('/srv/repositories/x', { allowedHosts: [], localRoot: null }).ok).toBe(false);
    expect(parseRepository('file:///srv/x', { allowedHosts: [], localRoot: null }).ok).toBe(false);
    expect(parseRepository('/srv/x', { allowedHosts: [], localRoot: 'srv' }).ok).toBe(false);
  });

  it('never repeats a password in the sentence', () => {
    const parsed = parseRepository('https://user:hunter2@github.com/acme/docs', rules);
    expect(JSON.stringify(parsed)).not.toContain('hunter2');
  });

  it('has a canonical form that parses to itself and follows the rules', () => {
    const piece = fc.constantFrom(
      'a',
      'B',
      '.',
      '..',
      '.git',
      '/',
      '//',
      '~',
      '-',
      ' ',
      '%2e',
      '@',
      ':',
      '?',
      '\n',
      'é',
    );
    const prefix = fc.constantFrom(
      'https://github.com/',
      'https://GIT.example.com/a/',
      '/srv/repositories/',
      'file:///srv/repositories/',
      'https://',
      '/',
      '',
    );
    let accepted = 0;
    fc.assert(
      fc.property(prefix, fc.array(piece, { maxLength: 8 }), (start, pieces) => {
        const parsed = parseRepository(start + pieces.join(''), rules);
        if (!parsed.ok) return;
        accepted += 1;
        expect(parseRepository(parsed.repository, rules)).toEqual(parsed);
        expect(new URL(repositoryUrl(parsed.repository)).protocol).toMatch(/^(https|file):$/);
        expect(parseRepository(repositoryUrl(parsed.repository), rules)).toEqual(parsed);
        if (parsed.kind === 'local') expect(parsed.path.startsWith('/srv/repositories/')).toBe(true);
        if (parsed.kind === 'https') {
          const url = new URL(parsed.repository);
          expect(url.href).toBe(parsed.repository);
          expect(rules.allowedHosts).toContain(url.host);
          expect(url.username + url.password + url.search + url.hash).toBe('');
        }
      }),
      { numRuns: propertyRuns(5000) },
    );
    expect(accepted).toBeGreaterThan(propertyRuns(100));
  });
});
