import { expect, it, vi } from 'vitest';
import { canBeId, newId } from '../../../db/ids.ts';

it('creates ids from the prefix and 24 lowercase characters, all different', () => {
  const ids = Array.from({ length: 1_000 }, () => newId('job_'));
  for (const id of ids) expect(id).toMatch(/^job_[0-9a-z]{24}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

it('creates ids that sort by the millisecond of their creation', () => {
  const clock = vi.spyOn(Date, 'now');
  try {
    const times = [0, 1, 35, 36, 1_763_700_000_000, 1_763_700_000_001, 9_999_999_999_999];
    const ids = times.map((time) => {
      clock.mockReturnValue(time);
      return newId('thr_');
    });
    expect([...ids].sort()).toEqual(ids);
  } finally {
    clock.mockRestore();
  }
});

it('recognizes what cannot be an id', () => {
  expect(canBeId(newId('site_'))).toBe(true);
  for (const text of ['', 'a\0b', '../x', "job_'", 'a'.repeat(65), 'ä', 'a\n']) expect(canBeId(text)).toBe(false);
});
