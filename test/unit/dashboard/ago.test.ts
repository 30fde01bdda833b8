import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it, vi } from 'vitest';
import { ago } from '../../../dashboard/format.ts';

const at = Date.parse('2026-11-30T02:42:49.900Z');

it('never shows an older date as younger', async () => {
  vi.useFakeTimers({ now: at });
  vi.resetModules();
  const { Ago } = await import('../../../dashboard/components/time.tsx');
  const ages = Array.from({ length: 300 }, (_, number) => number * 700);
  const shown = ages.map((age) => {
    const html = renderToStaticMarkup(createElement(Ago, { date: new Date(at - age).toISOString() }));
    const [, number, unit] = />(\d+)([sm]) ago</.exec(html) ?? [];
    return Number(number ?? 0) * (unit === 'm' ? 60 : 1);
  });
  vi.useRealTimers();
  expect(shown).toEqual(shown.toSorted((one, other) => one - other));
  expect(shown.at(-1)).toBe(180);
});

it('counts days by 24 hours', () => {
  const before = (hours: number) => ago(new Date(at - hours * 3_600_000).toISOString(), at);
  expect([0, 1, 23, 24, 47, 48].map(before)).toEqual(['now', '1h ago', '23h ago', '1d ago', '1d ago', '2d ago']);
});
