import { Button, Form, Label, TextArea, TextField } from 'react-aria-components';
import { Choice } from '../components/choice.tsx';
import { Check, Field } from '../components/fields.tsx';

/** Question with the data that a reader's page would send. */
export interface QuestionDraft {
  question: string;
  currentPath: string;
  context: { type: 'textSelection' | 'code'; value: string };
  /** Counts as a reader's question in conversations, gaps and figures. */
  isReader: boolean;
}

interface QuestionFormProps {
  draft: QuestionDraft;
  onChange(change: Partial<QuestionDraft>): void;
  isBusy: boolean;
  hasMessages: boolean;
  onAsk(question: string): void;
  onStop(): void;
  onNew(): void;
}

/** Label of the switch that makes a question in the playground one of a reader. */
export const countsAsReader = 'Count in conversations and gaps';

const kinds = [
  ['textSelection', 'selected text'],
  ['code', 'code'],
] as const;

/** Shows the form for a question. Enter submits it. */
export function QuestionForm({
  draft,
  onChange: change,
  isBusy,
  hasMessages,
  onAsk,
  onStop,
  onNew,
}: QuestionFormProps) {
  const ask = () => {
    const question = draft.question.trim();
    if (question === '' || isBusy) return;
    onAsk(question);
    change({ question: '' });
  };
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <TextField className="field" value={draft.question} onChange={(question) => change({ question })}>
        <Label className="label">Question</Label>
        <TextArea
          className="input"
          rows={2}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            ask();
          }}
        />
      </TextField>
      <details className="grammar">
        <summary>Reader context</summary>
        <div className="form">
          <Field
            label="Current page"
            value={draft.currentPath}
            onChange={(currentPath) => change({ currentPath: currentPath.slice(0, 200) })}
            isCode
            placeholder="/guides/install"
          />
          <div className="context-pair">
            <Choice
              label="Context"
              value={draft.context.type}
              options={kinds}
              onChange={(type) => change({ context: { ...draft.context, type } })}
            />
            <Field
              label="Selected text"
              value={draft.context.value}
              onChange={(value) => change({ context: { ...draft.context, value } })}
              rows={2}
              isCode={draft.context.type === 'code'}
            />
          </div>
        </div>
      </details>
      <Check label={countsAsReader} isSelected={draft.isReader} onChange={(isReader) => change({ isReader })} />
      <div className="actions">
        <Button type="submit" className="button button-primary" isDisabled={isBusy}>
          Ask
        </Button>
        {isBusy && (
          <Button className="button" onPress={onStop}>
            Stop
          </Button>
        )}
        {hasMessages && !isBusy && (
          <Button className="button" onPress={onNew}>
            New conversation
          </Button>
        )}
      </div>
    </Form>
  );
}
