import { describe, expect, it } from 'vitest';
import { parseWebhookAddress, parseWebhookHosts } from '../../../../lib/inputs/webhook-address.ts';

const problemOf = (text: string, allowed: string[] = []) => {
  const parsed = parseWebhookAddress(text, allowed);
  return parsed.ok ? null : parsed.problem;
};

describe('parseWebhookAddress', () => {
  it.each(['https://hooks.example.com/a?b=c', 'https://hooks.example.com:8443', 'https://8.8.8.8/x'])(
    'accepts %s',
    (url) => expect(problemOf(url)).toBeNull(),
  );

  it.each([
    ['no address', 'must be an https:// address'],
    [
      'http://hooks.example.com',
      'must be an https:// address, unless DOCKET_WEBHOOK_ALLOWED_HOSTS of the service names its host',
    ],
    ['ftp://hooks.example.com', 'must be an https:// address'],
    ['https://user:pass@hooks.example.com', 'must not contain a user name or password'],
    ['https://hooks.example.com/#part', 'must not contain a fragment'],
    [`https://hooks.example.com/${'a'.repeat(2_048)}`, 'must have at most 2048 characters'],
  ])('refuses %s', (url, problem) => expect(problemOf(url)).toBe(`The url ${problem}.`));

  it.each([
    'https://localhost/',
    'https://a.localhost./',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[fd00::1]/',
  ])('refuses %s, which is private', (url) =>
    expect(problemOf(url)).toBe(
      'The url resolves to a private address, which only DOCKET_WEBHOOK_ALLOWED_HOSTS of the service can allow.',
    ),
  );

  it('accepts what the operator allows, by host or by host and port', () => {
    const allowed = parseWebhookHosts(' Hooks.Internal, 127.0.0.1:9000,[::1]:9000,');
    expect(allowed).toEqual(['hooks.internal', '127.0.0.1:9000', '[::1]:9000']);
    expect(problemOf('http://hooks.internal:1234/x', allowed)).toBeNull();
    expect(problemOf('http://127.0.0.1:9000/', allowed)).toBeNull();
    expect(problemOf('https://[::1]:9000/', allowed)).toBeNull();
    expect(problemOf('http://127.0.0.1:9001/', allowed)).not.toBeNull();
    expect(problemOf('http://127.0.0.1/', allowed)).not.toBeNull();
    expect(problemOf('http://x.hooks.internal/', allowed)).not.toBeNull();
  });
});
