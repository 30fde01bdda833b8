import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { integerBetween, readExpiry, readName, repositoryOf } from '../../../../cli/commands/checks.ts';
import { CommandError, type CommandContext } from '../../../../cli/commands/context.ts';

describe('integerBetween', () => {
  it.each([
    ['1', 1],
    ['007', 7],
    ['10', 10],
  ])('takes %j', (text, value) => {
    expect(integerBetween(1, 10)(text)).toBe(value);
  });

  it.each(['0', '11', '', ' 5', '5.0', '1e1', '-1', '0x5', 'five', '٥'])('refuses %j', (text) => {
    expect(() => integerBetween(1, 10)(text)).toThrow('a whole number from 1 to 10');
  });
});

describe('readName', () => {
  it('trims, and refuses nothing and too much', () => {
    expect(readName('  Acme  ')).toBe('Acme');
    expect(readName('n'.repeat(200))).toHaveLength(200);
    for (const text of ['', ' \t', 'n'.repeat(201)]) expect(() => readName(text)).toThrow(InvalidArgumentError);
  });
});

describe('readExpiry', () => {
  const now = new Date('2026-01-01T00:00:00Z');

  it('counts days from now on', () => {
    expect(readExpiry('30d', now)).toEqual(new Date('2026-01-31T00:00:00Z'));
    expect(readExpiry('never', now)).toBeNull();
  });

  it.each(['0d', '000d', '30', 'd', '-1d', '1.5d', '99999d', '30d ', 'tomorrow', ''])('refuses %j', (text) => {
    expect(() => readExpiry(text, now)).toThrow('a number of days such as 90d');
  });
});

describe('repositoryOf', () => {
  const context = { allowedHosts: ['github.com'], localRoot: '/srv/git' } as CommandContext;

  it('takes a repository of an allowed host or below the local root', () => {
    expect(repositoryOf(context, 'https://github.com/acme/docs')).toMatchObject({ kind: 'https' });
    expect(repositoryOf(context, '/srv/git/docs.git')).toMatchObject({
      kind: 'local',
      repository: '/srv/git/docs.git',
    });
  });

  it.each([
    'https://user:secret@github.com/acme/docs',
    'https://evil.example/x',
    'ext::sh -c x',
    '/etc',
    '/srv/git/../x',
  ])('refuses %j without repeating a secret', (text) => {
    expect(() => repositoryOf(context, text)).toThrow(CommandError);
    expect(() => repositoryOf(context, text)).not.toThrow(/secret/);
  });
});
