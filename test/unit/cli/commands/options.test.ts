import { describe, expect, it } from 'vitest';
import { collect, orNull, readDays, readDollars, readInteger } from '../../../../cli/commands/options.ts';

describe('readInteger', () => {
  it.each([
    ['0', 0],
    ['007', 7],
    ['10', 10],
  ])('accepts %j', (text, value) => {
    expect(readInteger(text)).toBe(value);
  });

  it.each(['', ' 5', '5.0', '1e1', '-1', '0x5', 'five', '٥'])('refuses %j', (text) => {
    expect(() => readInteger(text)).toThrow('a whole number');
  });
});

describe('readDollars', () => {
  it('accepts an amount, or "none"', () => {
    expect(readDollars('2.50')).toBe(2.5);
    expect(readDollars('none')).toBeNull();
  });

  it.each(['', '-1', '2,50', '1e3', '$2', '0.0000001'])('refuses %j', (text) => {
    expect(() => readDollars(text)).toThrow('an amount in US dollars');
  });
});

describe('readDays', () => {
  it('accepts a number of days, or "never"', () => {
    expect(readDays('30d')).toBe(30);
    expect(readDays('never')).toBeNull();
  });

  it.each(['30', 'd', '-1d', '1.5d', '99999d', '30d ', 'tomorrow', ''])('refuses %j', (text) => {
    expect(() => readDays(text)).toThrow('a number of days such as 90d');
  });
});

it('unsets a setting with an empty text', () => {
  expect(collect('b', ['a'])).toEqual(['a', 'b']);
  expect(collect('', ['a'])).toEqual([]);
  expect(orNull('')).toBeNull();
  expect(orNull(undefined)).toBeUndefined();
  expect(orNull('main')).toBe('main');
});
