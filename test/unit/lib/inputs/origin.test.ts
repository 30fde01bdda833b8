import { describe, expect, it } from 'vitest';
import { isOneOfOrigins, parseOrigin } from '../../../../lib/inputs/origin.ts';

describe('parseOrigin', () => {
  it.each([
    ['https://docs.example.com', 'https://docs.example.com'],
    ['HTTPS://Docs.Example.com/', 'https://docs.example.com'],
    ['https://docs.example.com:443', 'https://docs.example.com'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://*.example.com', 'https://*.example.com'],
    ['https://*.Example.com:8443', 'https://*.example.com:8443'],
  ])('writes %s as %s', (text, origin) => {
    expect(parseOrigin(text)).toBe(origin);
  });

  it.each([
    '',
    '*',
    'null',
    'docs.example.com',
    '//docs.example.com',
    'ftp://docs.example.com',
    'javascript:alert(1)',
    'file:///srv',
    'https://docs.example.com/guides',
    'https://docs.example.com?x',
    'https://docs.example.com#x',
    'https://user@docs.example.com',
    'https://user:word@docs.example.com',
    'https://docs.example.com\\@evil.example',
    'https://docs.example.com https://other.example.com',
    'https://*',
    'https://*.com',
    'https://*.localhost',
    'https://*.*.example.com',
    'https://docs.*.com',
    'https://docs*.example.com',
    'https://*docs.example.com',
    'https://*.127.0.0.1',
    'https://*.evil@example.com',
    '*://docs.example.com',
    `https://${'x.'.repeat(200)}example.com`,
  ])('refuses %s', (text) => {
    expect(parseOrigin(text)).toBe(null);
  });
});

describe('isOneOfOrigins', () => {
  const allowed = ['https://docs.example.com', 'http://localhost:3000', 'https://*.acme.example:8443'];

  it.each([
    'https://docs.example.com',
    'http://localhost:3000',
    'https://a.acme.example:8443',
    'https://x-1.acme.example:8443',
  ])('accepts %s', (origin) => {
    expect(isOneOfOrigins(origin, allowed)).toBe(true);
  });

  /** Origins that differ from an allowed one in one respect. */
  const neighbours = ['https://docs.example.com', 'http://localhost:3000', 'https://a.acme.example:8443'].flatMap(
    (origin) => {
      const { protocol, hostname, port } = new URL(origin);
      const [own, other] = [port === '' ? '' : `:${port}`, protocol === 'https:' ? 'http:' : 'https:'];
      const hosts = [
        hostname.toUpperCase(),
        `${hostname}.`,
        `.${hostname}`,
        `www.${hostname}`,
        `a.b.${hostname}`,
        `x${hostname}`,
        `${hostname}x`,
        `${hostname}.evil.example`,
        `evil.example.${hostname}`,
        `evil.example#.${hostname}`,
        `user@${hostname}`,
        `evil.example\\.${hostname}`,
        `evil.example%2e${hostname}`,
        hostname.replace('.', '-').replace('h', 'l'),
        hostname.split('.').slice(1).join('.'),
        `*.${hostname}`,
        '',
      ];
      // the wildcard accepts any one label
      const isLabel = (host: string) => /^[a-z0-9-]+\.acme\.example$/.test(host);
      return [
        ...hosts.filter((host) => !isLabel(host)).map((host) => `${protocol}//${host}${own}`),
        `${other}//${hostname}${own}`,
        `${protocol}//${hostname}:1${port}`,
        `${protocol}//${hostname}${own}0`,
        `${protocol}//${hostname}:443`,
        `${protocol}//${hostname}${own === '' ? ':80' : ''}`,
        `${protocol}//user@${hostname}${own}`,
        `${protocol}//user:${port}@${hostname}`,
        `${origin}/`,
        `${origin}/guides`,
        `${origin}?`,
        `${origin}#`,
        `${origin},${origin}`,
        `${origin} https://evil.example`,
        ` ${origin}`,
        `${origin}\0`,
        origin.replace('://', ':'),
        `blob:${origin}`,
      ];
    },
  );

  it.each(['null', '', '*', 'https://', ...new Set(neighbours)])('refuses %j', (origin) => {
    expect(isOneOfOrigins(origin, allowed)).toBe(false);
  });

  it('accepts nothing when nothing is allowed', () => {
    expect(isOneOfOrigins('https://docs.example.com', [])).toBe(false);
  });
});
