import { AnswerMarkdown } from './answer-markdown.tsx';
import type { ChatDriver } from '../chat-driver.ts';
import type { ChatMessage } from '../chat-state.ts';
import { CopyButton } from './copy-button.tsx';
import { Feedback } from './feedback.tsx';
import type { Labels } from '../labels.ts';
import type { LinkTarget } from './page-link.tsx';
import { SourceCards } from './source-cards.tsx';

interface AnswerViewProps {
  message: ChatMessage;
  question: string;
  isLast: boolean;
  /** False while the answer is streaming. */
  isDone: boolean;
  /** Null for an earlier answer, which cannot be rated here. */
  driver: Pick<ChatDriver, 'threadId' | 'rate' | 'search'> | null;
  labels: Labels;
  target: LinkTarget;
}

/** Shows an answer with its sources and what a reader can do with it. */
export function AnswerView({ message, question, isLast, isDone, driver, labels, target }: AnswerViewProps) {
  return (
    <article className="docket-answer" aria-label={labels.answer} aria-busy={!isDone}>
      <AnswerMarkdown
        text={message.text}
        marks={message.marks}
        sources={message.sources}
        target={target}
        labels={labels}
      />
      {message.marks.some(({ unsupported }) => unsupported.length > 0) && (
        <p className="docket-quiet">
          <mark className="docket-unsupported">{labels.unsupported}</mark>
        </p>
      )}
      <SourceCards
        sources={message.sources}
        label={labels.sources}
        target={target}
        question={question}
        search={isLast && isDone && driver !== null ? driver.search : null}
      />
      {isDone && message.text !== '' && (
        <div className="docket-actions">
          <CopyButton text={message.text} label={labels.copy} copied={labels.copied} />
          {driver !== null && driver.threadId !== null && (
            <Feedback vote={message.vote} labels={labels} onRate={(vote) => driver.rate(message.id, vote)} />
          )}
        </div>
      )}
    </article>
  );
}
