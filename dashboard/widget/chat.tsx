import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { AnswerView } from './answer/answer-view.tsx';
import { Announcer } from './announcer.tsx';
import type { ChatDriver } from './chat-driver.ts';
import type { ChatMessage } from './chat-state.ts';
import { Composer } from './composer.tsx';
import type { Labels } from './labels.ts';
import type { LinkTarget } from './answer/page-link.tsx';

export interface ChatProps {
  driver: ChatDriver;
  labels: Labels;
  target: LinkTarget;
  /** Questions to start with; null for those of the site. */
  questions: string[] | null;
  /** Text that the reader selected on the page, for the next question. */
  selection: string | null;
  onForgetSelection(): void;
  /** Called when the reader goes to the field. */
  onFocusField?(): void;
  /** Shown above the questions to start with. */
  welcome?: ReactNode;
  /** Written in the field at first. */
  firstDraft?: string;
  /** Settings of the next question, shown below its field. */
  settings?: ReactNode;
}

/** Shows a conversation with the assistant and the form for the next question. */
export function Chat({ driver, labels, target, questions, selection, onForgetSelection, ...slots }: ChatProps) {
  const { messages, status, error } = driver;
  const [edited, setEdited] = useState<ChatMessage | null>(null);
  const [draft, setDraft] = useState(slots.firstDraft ?? '');
  const input = useRef<HTMLTextAreaElement>(null);
  const isBusy = status === 'submitted' || status === 'streaming';
  const starters = useStarterQuestions(driver, questions, messages.length === 0);
  const followUps = isBusy ? [] : (messages.at(-1)?.followUps ?? []);
  const lastQuestion = messages.findLast(({ role }) => role === 'user') ?? null;

  const send = (question: string, replaced: ChatMessage | null) => {
    const context =
      selection === null ? [] : [{ type: 'textSelection' as const, value: selection, path: location.pathname }];
    if (replaced === null) driver.ask(question, context);
    else driver.edit(replaced.id, question, context);
    if (edited !== null) startEditing(null);
    onForgetSelection();
    input.current?.focus();
  };
  const startEditing = (message: ChatMessage | null) => {
    setEdited(message);
    setDraft(message?.text ?? '');
    input.current?.focus();
  };

  return (
    <div className="docket-chat">
      <Messages messages={messages} error={error} label={labels.conversation}>
        {messages.length === 0 && slots.welcome}
        {messages.length === 0 && (
          <Questions label={labels.suggestions} questions={starters} onAsk={(question) => send(question, null)} />
        )}
        {messages.map((message, index) =>
          message.role === 'user' ? (
            <QuestionView
              key={message.id}
              message={message}
              labels={labels}
              onEdit={isBusy ? null : () => startEditing(message)}
            />
          ) : (
            <AnswerView
              key={message.id}
              message={message}
              question={messages[index - 1]?.text ?? ''}
              isLast={index === messages.length - 1}
              isDone={!isBusy || index < messages.length - 1}
              driver={driver}
              labels={labels}
              target={target}
            />
          ),
        )}
        {status === 'submitted' && <p className="docket-quiet">{labels.searching}</p>}
        {error !== null && (
          <p className="docket-error" role="alert">
            {error}
          </p>
        )}
        {followUps.length > 0 && <p className="docket-quiet">{labels.followUps}</p>}
        <Questions label={labels.followUps} questions={followUps} onAsk={(question) => send(question, null)} />
        {lastQuestion !== null && !isBusy && (
          <button type="button" className="docket-button" onClick={() => send(lastQuestion.text, lastQuestion)}>
            {labels.askAgain}
          </button>
        )}
      </Messages>
      <Announcer messages={messages} status={status} labels={labels} />
      <Composer
        input={input}
        labels={labels}
        draft={draft}
        isBusy={isBusy}
        selection={selection}
        isEditing={edited !== null}
        onDraft={setDraft}
        onSend={(question) => {
          setDraft('');
          send(question, edited);
        }}
        onStop={driver.stop}
        onCancelEdit={() => startEditing(null)}
        onForgetSelection={() => {
          onForgetSelection();
          input.current?.focus();
        }}
        onFocusField={slots.onFocusField}
      >
        {slots.settings}
      </Composer>
    </div>
  );
}

/** Returns the questions to start with, those of the site if none are given. */
function useStarterQuestions({ starterQuestions }: ChatDriver, given: string[] | null, isEmpty: boolean): string[] {
  const [ofSite, setOfSite] = useState<string[] | null>(null);
  const isWanted = given === null && ofSite === null && isEmpty;
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    starterQuestions().then(
      (questions) => {
        if (!isGone) setOfSite(questions);
      },
      // a chat without them can still be asked anything
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [starterQuestions, isWanted]);
  return given ?? ofSite ?? [];
}

interface QuestionsProps {
  label: string;
  questions: string[];
  onAsk(question: string): void;
}

function Questions({ label, questions, onAsk }: QuestionsProps) {
  if (questions.length === 0) return null;
  return (
    <ul className="docket-questions" aria-label={label}>
      {questions.map((question) => (
        <li key={question} dir="auto">
          <button type="button" className="docket-button" onClick={() => onAsk(question)}>
            {question}
          </button>
        </li>
      ))}
    </ul>
  );
}

interface MessagesProps {
  messages: ChatMessage[];
  error: string | null;
  label: string;
  children: ReactNode;
}

/** Scrolls with the answer, and to an error, unless the reader has scrolled up. */
function Messages({ messages, error, label, children }: MessagesProps) {
  const list = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const count = messages.length;
  // before the browser's scroll anchoring, whose scroll event would look like the reader's
  useLayoutEffect(() => {
    isAtEnd.current = true;
  }, [count]);
  useLayoutEffect(() => {
    const element = list.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [messages, error]);
  return (
    <section
      ref={list}
      className="docket-messages"
      aria-label={label}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40;
      }}
    >
      {children}
    </section>
  );
}

interface QuestionViewProps {
  message: ChatMessage;
  labels: Labels;
  /** Null while the question cannot be edited. */
  onEdit: (() => void) | null;
}

/** Shows what the reader asked, with a button to edit it unless `onEdit` is null. */
export function QuestionView({ message, labels, onEdit }: QuestionViewProps) {
  return (
    <div className="docket-question" role="group" aria-label={labels.you}>
      <p dir="auto">{message.text}</p>
      {onEdit !== null && (
        <button type="button" className="docket-button" onClick={onEdit}>
          {labels.edit}
        </button>
      )}
    </div>
  );
}
