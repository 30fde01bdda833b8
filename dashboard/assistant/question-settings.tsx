import { Button } from 'react-aria-components';
import { Choice } from '../components/choice.tsx';
import { Check, Field } from '../components/fields.tsx';

/** Context that a reader's page sends with a question. */
export interface ReaderContext {
  currentPath: string;
  context: { type: 'textSelection' | 'code'; value: string };
}

interface QuestionSettingsProps {
  reader: ReaderContext;
  onReader(reader: ReaderContext): void;
  /** Whether the conversation counts as one of a reader in conversations, gaps and figures. */
  isCounted: boolean;
  onCounted(isCounted: boolean): void;
  /** Whether there is a conversation, which stays counted or not. */
  hasStarted: boolean;
  isBusy: boolean;
  onNew(): void;
}

/** Label of the switch that makes a conversation in the playground one of a reader. */
export const countsAsReader = 'Count in conversations and gaps';

const kinds = [
  ['textSelection', 'selected text'],
  ['code', 'code'],
] as const;

/** Shows what a question of the playground is sent with. */
export function QuestionSettings({ reader, onReader, hasStarted, isBusy, ...props }: QuestionSettingsProps) {
  const { currentPath, context } = reader;
  return (
    <>
      <details className="grammar">
        <summary>Reader context</summary>
        <div className="form">
          <Field
            label="Current page"
            value={currentPath}
            onChange={(path) => onReader({ ...reader, currentPath: path.slice(0, 200) })}
            isCode
            placeholder="/guides/install"
          />
          <div className="context-pair">
            <Choice
              label="Context"
              value={context.type}
              options={kinds}
              onChange={(type) => onReader({ ...reader, context: { ...context, type } })}
            />
            <Field
              label="Selected text"
              value={context.value}
              onChange={(value) => onReader({ ...reader, context: { ...context, value } })}
              rows={2}
              isCode={context.type === 'code'}
            />
          </div>
        </div>
      </details>
      {!hasStarted && <Check label={countsAsReader} value={props.isCounted} onChange={props.onCounted} />}
      {hasStarted && !isBusy && (
        <div className="actions">
          <Button className="button" onPress={props.onNew}>
            New conversation
          </Button>
          {props.isCounted && <span className="hint">Counts in conversations and gaps</span>}
        </div>
      )}
    </>
  );
}
