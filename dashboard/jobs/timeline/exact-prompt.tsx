import { useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { Button } from 'react-aria-components';
import { count, plural } from '../../format.ts';
import { messageOf } from '../../http/client.ts';
import type { Step, StepPrompt } from '../../http/types.ts';
import { stepPromptQuery, type JobRef } from '../job-queries.ts';
import { InspectedText } from './inspected-text.tsx';

/** Shows on request everything that the model read for a step. */
export function ExactPrompt({ job, step }: { job: JobRef; step: Step }) {
  const [isShown, setShown] = useState(false);
  const prompt = useQuery({ ...stepPromptQuery(job, step), enabled: isShown });
  return (
    <>
      <Button className="button button-quiet" aria-expanded={isShown} onPress={() => setShown(!isShown)}>
        {isShown ? 'Hide' : 'Show'} the exact prompt
      </Button>
      {isShown && prompt.isError && <p className="field-error">{messageOf(prompt.error)}</p>}
      {isShown && prompt.isPending && <p className="quiet">Loading…</p>}
      {isShown && prompt.data !== undefined && <Prompt prompt={prompt.data} />}
    </>
  );
}

const matches: Record<StepPrompt['match'], string> = {
  exact: 'Exactly what was sent: its hash is the one stored with the answer.',
  different:
    'As this version would send it. Its hash differs from the stored one, because prompts or tools have changed since, or a secret was masked.',
  unknown: 'As this version would send it: there is no answer to compare it with.',
};

function Prompt({ prompt }: { prompt: StepPrompt }) {
  const { system, messages, omittedMessages, match } = prompt;
  return (
    <>
      <p className="hint">{matches[match]}</p>
      <Tools prompt={prompt} />
      <Message title="System" content={system} />
      {omittedMessages > 0 && <p className="hint">{plural(omittedMessages, 'older message')} not shown.</p>}
      {messages.map(({ role, content }, index) => (
        <Message
          // the messages of a step never change
          key={index}
          title={`${count(omittedMessages + index + 1)} ${role}`}
          content={content}
        />
      ))}
    </>
  );
}

function Tools({ prompt: { tools, toolDefinitions } }: { prompt: StepPrompt }) {
  const defined = new Set(toolDefinitions.map(({ name }) => name));
  const others = tools.filter((name) => !defined.has(name));
  return (
    <>
      {defined.size > 0 && (
        <details className="exact-message">
          <summary>{plural(defined.size, 'tool')} with description and schema</summary>
          {toolDefinitions.map(({ name, description, inputSchema }) => (
            <Message key={name} title={name} content={`${description}\n\n${JSON.stringify(inputSchema, null, 2)}`} />
          ))}
        </details>
      )}
      {others.length > 0 && (
        <p className="exact-tools">
          {plural(others.length, 'tool')} of an earlier version, which stored only the names:{' '}
          {others.map((name) => (
            <code key={name}>{name}</code>
          ))}
        </p>
      )}
    </>
  );
}

type Content = StepPrompt['messages'][number]['content'];

/** Shows a message once it is opened, so that a long conversation costs nothing before. */
const Message = memo(function Message({ title, content }: { title: string; content: Content }) {
  const [isOpen, setOpen] = useState(false);
  const text = textOf(content);
  return (
    <details className="exact-message" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {title} {!isOpen && <span className="quiet">{plural(text.length, 'character')}</span>}
      </summary>
      {isOpen && <InspectedText title={title} text={text} />}
    </details>
  );
});

/** Returns the text of a message, with the outputs of tools as they are and other parts as JSON. */
function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return content.map(textOfPart).join('\n\n');
}

function textOfPart({ type, ...part }: Exclude<Content, string>[number]): string {
  const { text, toolName, output } = part;
  if (type === 'text' && typeof text === 'string') return text;
  const value = typeof output === 'object' && output !== null && 'value' in output ? output.value : null;
  if (type === 'tool-result' && typeof value === 'string') return `${String(toolName)} returned:\n${value}`;
  return `${type} ${JSON.stringify(part, null, 2)}`;
}
