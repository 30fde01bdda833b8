import type { UIMessage } from 'ai';
import { plain } from '../plain.ts';
import { Feedback } from './feedback.tsx';
import { SiteMarkdown, Sources } from './site-markdown.tsx';

/** Returns the id of an answer's thread once its stream has sent it. */
export function threadOf(message: UIMessage | undefined): string | null {
  const { metadata } = message ?? {};
  const isThere = typeof metadata === 'object' && metadata !== null && 'threadId' in metadata;
  return isThere && typeof metadata.threadId === 'string' ? metadata.threadId : null;
}

interface ChatMessageProps {
  message: UIMessage;
  domain: string;
  /** False while the answer is streaming. */
  isDone: boolean;
}

/** Shows a question, or an answer with its sources and a feedback prompt. */
export function ChatMessage({ message, domain, isDone }: ChatMessageProps) {
  const threadId = threadOf(message);
  const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (message.role === 'user') {
    return (
      <div className="said current-question">
        <p className="words">{plain(text)}</p>
      </div>
    );
  }
  const sources = message.parts.filter((part) => part.type === 'source-url');
  return (
    <article className="answer">
      <SiteMarkdown domain={domain} text={text} />
      <Sources domain={domain} sources={sources.map(({ url, title }) => ({ url, title: title ?? url }))} />
      {isDone && threadId !== null && text !== '' && (
        <Feedback domain={domain} threadId={threadId} messageId={message.id} />
      )}
    </article>
  );
}
