import { expect, it } from 'vitest';
import { withOutput, type CommandOutputs } from '../../../../dashboard/jobs/timeline/command-outputs.ts';
import type { JobEvent } from '../../../../dashboard/http/types.ts';

const event = (data: Record<string, unknown>, type: JobEvent['type'] = 'output'): JobEvent => ({
  seq: 1,
  turn: 1,
  step: 1,
  type,
  createdAt: '2026-01-01T00:00:00.000Z',
  data: { attempt: 1, toolCallId: 'call', durationMs: null, ...data },
});
const after = (...events: JobEvent[]) => events.reduce<CommandOutputs>(withOutput, new Map());
const textAfter = (...events: JobEvent[]) => after(...events).get('call')?.text;

it('joins output, ignores what was sent twice, and shows where output is missing', () => {
  const one = event({ offset: 0, text: 'one\n' });
  expect(textAfter(one, event({ offset: 4, text: 'two\n' }))).toBe('one\ntwo\n');
  expect(textAfter(one, one, event({ offset: 4, text: 'two\n' }))).toBe('one\ntwo\n');
  expect(textAfter(one, event({ offset: 1_004, text: 'last\n' }))).toBe(
    'one\n[… 1,000 characters not shown while the command runs …]\nlast\n',
  );
});

it('starts anew with another attempt, ends with a duration, and gives way to the result', () => {
  const first = event({ offset: 0, text: 'lost\n' });
  const again = event({ attempt: 2, offset: 0, text: 'again\n' });
  const end = event({ attempt: 2, offset: 6, text: '', durationMs: 1_500 });
  expect(after(first, again, end).get('call')).toMatchObject({ text: 'again\n', length: 6, durationMs: 1_500 });
  expect(after(first, again, end, event({ output: 'again' }, 'tool-result')).size).toBe(0);
});
