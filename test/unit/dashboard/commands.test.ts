import { expect, it } from 'vitest';
import { commandsFor } from '../../../dashboard/components/palette/commands.ts';
import type { Role } from '../../../dashboard/components/session.tsx';

const labelsOf = (text: string, role: Role = 'admin') => {
  const { pages, actions } = commandsFor(text, ['light', 'dark'], { role });
  return [...pages, ...actions].map(({ label }) => label);
};

it('finds pages and actions by words in any order and case', () => {
  expect(labelsOf('')).toHaveLength(18);
  expect(labelsOf('keys sett')).toEqual(['Settings: API keys']);
  expect(labelsOf('JOB')).toEqual(['Jobs', 'New job', 'Show running jobs', 'Show failed jobs']);
  expect(labelsOf('dark')).toEqual(['Theme: dark']);
  expect(labelsOf('job_01kb')).toEqual([]);
  expect(labelsOf('settings', 'member')).toEqual(['Settings: projects', 'Settings: sites']);
  expect(labelsOf('new', 'viewer')).toEqual([]);
});

it('offers the pull request whose id is typed', () => {
  expect(commandsFor(' pr_01kb ', [], { role: 'viewer' }).pages).toEqual([
    { label: 'Pull request pr_01kb', to: { to: '/pulls/$id', params: { id: 'pr_01kb' } } },
  ]);
});
