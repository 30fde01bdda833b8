import { expect, it } from 'vitest';
import { commonHosts, isFetchHost, parseFetchHost } from '../../../../lib/inputs/fetch-hosts.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const hostsOf = (text: string) => text.split(' ').filter((host) => host !== '');

it('accepts hosts and all names below one, with or without a port', () => {
  for (const host of [
    'docs.example.com',
    '*.example.com',
    'localhost',
    'a.test:8080',
    '*.a.test:8443',
    'xn--bcher-kva.de',
  ])
    expect(parseFetchHost(` ${host.toUpperCase()} `)).toEqual({ ok: true, host });
});

it('refuses addresses, wide patterns and everything else', () => {
  const wrong = ['', '*', '*.', '*.com', 'a.*.com', '**.example.com', '127.0.0.1', '[::1]', '0x7f.1', '2130706433'];
  for (const host of [
    ...wrong,
    'https://a.test',
    'a.test/x',
    'a@b.test',
    'a.test:0',
    'a.test:99999',
    `${'a.'.repeat(200)}test`,
    'b\u00fccher.de',
  ])
    expect(parseFetchHost(host), host).toMatchObject({ ok: false });
});

it.each([
  ['docs.example.com', 'https://docs.example.com/x', true],
  ['docs.example.com', 'http://docs.example.com/', true],
  ['docs.example.com', 'https://docs.example.com:8443/', false],
  ['docs.example.com:8443', 'https://docs.example.com:8443/', true],
  ['docs.example.com', 'https://example.com/', false],
  ['docs.example.com', 'https://docs.example.com.evil.test/', false],
  ['docs.example.com', 'https://evil-docs.example.com/', false],
  ['docs.example.com', 'https://docs.example.com@evil.test/', false],
  ['docs.example.com', 'https://docs.example.com./', false],
  ['*.example.com', 'https://a.b.example.com/', true],
  ['*.example.com', 'https://example.com/', false],
  ['*.example.com', 'https://badexample.com/', false],
  ['*.example.com:444', 'https://a.example.com:444/', true],
  ['*.example.com:444', 'https://a.example.com/', false],
])('%s and %s: %s', (host, url, expected) => {
  expect(isFetchHost([host], new URL(url))).toBe(expected);
});

it.each([
  ['a.test b.test', 'b.test c.test', 'b.test'],
  ['*.example.com', 'docs.example.com', 'docs.example.com'],
  ['docs.example.com', '*.example.com', 'docs.example.com'],
  ['*.a.example.com', '*.example.com', '*.a.example.com'],
  ['example.com', '*.example.com', ''],
  ['a.test:443', 'a.test', 'a.test:443'],
  ['a.test:8443', 'a.test', ''],
  ['*.example.com:443', 'docs.example.com', 'docs.example.com:443'],
])('%s within %s is %s', (a, b, common) => {
  expect(commonHosts(hostsOf(a), hostsOf(b))).toEqual(hostsOf(common));
});

it('two lists allow together what each of them allows', () => {
  const name = fc
    .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
    .map((parts) => `${parts.join('.')}.test`);
  const port = fc.constantFrom('', ':443', ':80', ':8443');
  const host = fc.tuple(fc.constantFrom('', '*.'), name, port).map((parts) => parts.join(''));
  const url = fc.tuple(fc.constantFrom('http://', 'https://'), name, port).map((parts) => new URL(parts.join('')));
  const hosts = fc.array(host, { maxLength: 5 });
  fc.assert(
    fc.property(hosts, hosts, url, (a, b, at) => {
      expect(isFetchHost(commonHosts(a, b), at)).toBe(isFetchHost(a, at) && isFetchHost(b, at));
    }),
    { numRuns: propertyRuns(20_000) },
  );
});
