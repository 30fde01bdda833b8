import { expect, it } from 'vitest';
import { parseMessageRequest } from '../../../../api/assistant/message-request.ts';
import { promptOf } from '../../../../api/assistant/prompt.ts';

function turnsOf(...messages: [role: string, content: string][]) {
  const request = parseMessageRequest({
    fp: 'anonymous',
    messages: [...messages, ['user', 'And then?']].map(([role, content]) => ({ role, content })),
  });
  const site = { baseUrl: null, instructions: null };
  const [system, ...turns] = promptOf({ request, query: null, hits: [], weakScore: 0, site });
  expect(system?.role).toBe('system');
  return turns.map(({ role, content }) => ({
    role,
    texts: (content as { text: string }[]).map(({ text }) => (text.includes('And then?') ? 'And then?' : text)),
  }));
}

it('leaves out the greeting of a chat, because the first turn is the reader’s', () => {
  expect(turnsOf(['assistant', 'How can I help?'])).toEqual([{ role: 'user', texts: ['And then?'] }]);
});

it('makes one turn of questions without an answer', () => {
  expect(turnsOf(['user', 'How?'], ['assistant', 'So.'], ['user', 'Why?'])).toEqual([
    { role: 'user', texts: ['How?'] },
    { role: 'assistant', texts: ['So.'] },
    { role: 'user', texts: ['Why?', 'And then?'] },
  ]);
});

it('truncates earlier messages to whole characters', () => {
  const [turn] = turnsOf(['user', `${'x'.repeat(1_999)}😀`], ['assistant', 'So.']);
  expect(turn?.texts[0]?.isWellFormed()).toBe(true);
});
