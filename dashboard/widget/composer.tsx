import type { ReactNode, RefObject } from 'react';
import { isComposing } from './hotkey.ts';
import type { Labels } from './labels.ts';

interface ComposerProps {
  input: RefObject<HTMLTextAreaElement | null>;
  labels: Labels;
  draft: string;
  isBusy: boolean;
  selection: string | null;
  isEditing: boolean;
  onDraft(draft: string): void;
  onSend(question: string): void;
  onStop(): void;
  onCancelEdit(): void;
  onForgetSelection(): void;
  onFocusField?(): void;
  children: ReactNode;
}

const maxQuestionLength = 20_000;

/** Shows the field for a question. Enter asks; Shift+Enter starts a new line. A sandboxed frame would not submit a form. */
export function Composer({ input, labels, draft, isBusy, selection, isEditing, children, ...on }: ComposerProps) {
  const send = () => {
    const question = draft.trim();
    if (question !== '' && !isBusy) on.onSend(question);
  };
  return (
    <div className="docket-composer">
      {selection !== null && (
        <p className="docket-note">
          <span>
            {labels.selection}: <q>{selection.slice(0, 120)}</q>
          </span>
          <button type="button" className="docket-button" aria-label={labels.remove} onClick={on.onForgetSelection}>
            ×
          </button>
        </p>
      )}
      {isEditing && (
        <p className="docket-note">
          <span>{labels.editing}</span>
          <button type="button" className="docket-button" onClick={on.onCancelEdit}>
            {labels.cancel}
          </button>
        </p>
      )}
      <div className="docket-ask">
        <textarea
          ref={input}
          dir="auto"
          rows={1}
          aria-label={labels.question}
          placeholder={labels.placeholder}
          maxLength={maxQuestionLength}
          value={draft}
          onFocus={on.onFocusField}
          onInput={(event) => on.onDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
            event.preventDefault();
            send();
          }}
        />
        <button type="button" className="docket-button docket-primary" onClick={isBusy ? on.onStop : send}>
          {isBusy ? labels.stop : labels.ask}
        </button>
      </div>
      {children}
    </div>
  );
}
