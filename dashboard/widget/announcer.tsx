import { useEffect, useRef, useState } from 'react';
import type { ChatMessage, ChatStatus } from './chat-state.ts';
import type { Labels } from './labels.ts';
import { parseMarkdown, plainTextOf } from './answer/markdown-tree.ts';

const maxLength = 2_000;

/**
 * Tells screen readers that an answer is on its way, and reads it once it is complete: an answer that is announced word
 * by word cannot be understood. A restored conversation is not announced.
 */
export function Announcer({
  messages,
  status,
  labels,
}: {
  messages: ChatMessage[];
  status: ChatStatus;
  labels: Labels;
}) {
  const [text, setText] = useState('');
  const before = useRef(status);
  useEffect(() => {
    const wasBusy = before.current === 'submitted' || before.current === 'streaming';
    before.current = status;
    if (status === 'submitted') setText(labels.searching);
    else if (status === 'ready' && wasBusy) setText(announcementOf(messages.at(-1), labels));
    else if (status === 'error') setText('');
  }, [status, messages, labels]);
  return (
    <p className="docket-hidden" role="status">
      {text}
    </p>
  );
}

function announcementOf(message: ChatMessage | undefined, labels: Labels): string {
  if (message?.role !== 'assistant') return '';
  const answer = plainTextOf(parseMarkdown(message.text)).slice(0, maxLength);
  const sources = message.sources.length === 0 ? '' : ` ${labels.sources}: ${message.sources.length}`;
  return `${labels.answer}: ${answer}${sources}`;
}
