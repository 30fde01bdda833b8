import type { AssistantModelMessage, ModelMessage } from 'ai';

const cutOff = '(Note of the service: your answer was cut off. Continue where it ended.)';

/**
 * Returns a conversation in the form that every provider accepts: without blank texts and reasoning that led to nothing,
 * and with a note after an answer that was cut off, because a conversation must not end with the model's own words.
 */
export function acceptedMessages(messages: ModelMessage[]): ModelMessage[] {
  const kept = messages.flatMap((message): ModelMessage[] =>
    message.role === 'assistant' ? withoutBlanks(message) : [message],
  );
  return kept.flatMap((message, at) => {
    const next = kept[at + 1];
    const isLast = message.role === 'assistant' && (next === undefined || next.role === 'assistant');
    return isLast ? [message, { role: 'user', content: cutOff }] : [message];
  });
}

function withoutBlanks(message: AssistantModelMessage): AssistantModelMessage[] {
  if (typeof message.content === 'string') return message.content.trim() === '' ? [] : [message];
  const content = message.content.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  return content.every(({ type }) => type === 'reasoning') ? [] : [{ ...message, content }];
}
