import { expect, it } from 'vitest';
import { stoppedMessage } from '../../../../activities/publish/stopped-message.ts';

const message = 'The model provider rejected the request with status 401. Check the API key.';
const nothing = { prLink: null, isChanged: false, summary: { title: null, message: '' } };
const usage = { steps: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 };

it('says only why a turn stopped that had not begun to work', () => {
  expect(stoppedMessage({ message, published: nothing, usage } as never)).toBe(message);
});

it('says what a turn used and where its work is', () => {
  const used = { ...usage, steps: 1, inputTokens: 10, outputTokens: 5 };
  expect(stoppedMessage({ message, published: nothing, usage: used } as never)).toBe(
    `${message} The turn took 1 step and 15 tokens for $0.00. It changed nothing. A follow-up message continues from there; each turn has limits of its own.`,
  );
  const published = { ...nothing, prLink: 'https://forge.test/pulls/1' };
  expect(stoppedMessage({ message, published, usage } as never)).toContain(
    'It did not change the pull request https://forge.test/pulls/1.',
  );
});
