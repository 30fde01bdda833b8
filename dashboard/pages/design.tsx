import { useState, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { Choice } from '../components/choice.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Check, Field, Problem } from '../components/fields.tsx';
import { LiveDot } from '../components/live-dot.tsx';
import { Markdown } from '../components/markdown.tsx';
import { EmptyNote, ErrorNote, Loading } from '../components/notes.tsx';
import { Several } from '../components/several.tsx';
import { PullRequestBadge, StatusBadge } from '../components/status.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import type { Job } from '../http/types.ts';
import { EmptyPlots } from '../operations/plot-list.tsx';
import { Plot } from '../operations/plot.tsx';
import { useTitle } from '../use-title.ts';
import '../styles/design.css';
import '../styles/job.css';
import '../styles/operations.css';
import '../styles/settings.css';

const plainColours = [
  'bg',
  'bg-side',
  'bg-raised',
  'bg-hover',
  'line',
  'line-strong',
  'text',
  'quiet',
  'accent',
  'link',
];
const badgeColours = ['red', 'green', 'blue', 'purple', 'amber'].flatMap((name) => [name, `${name}-bg`]);
const sizes = ['xs', 's', 'm', 'l', 'xl'];
const spaces = [1, 2, 3, 4, 5, 6, 7, 8];
const radii = ['s', 'm', 'l', 'full'];
const hours = Array.from({ length: 12 }, (_, hour) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString());
const series = [{ label: 'completed', colour: '--green', values: hours.map((_, hour) => (hour * 7) % 5) }];

/** Shows every token and component, for contributors. Only the address leads here. */
export function DesignPage() {
  const [text, setText] = useState('');
  const [isOn, setOn] = useState(true);
  const [choice, setChoice] = useState<'one' | 'two'>('one');
  const [several, setSeveral] = useState<('one' | 'two')[]>(['one']);
  useTitle('Design');
  return (
    <>
      <h1>Design</h1>
      <p className="quiet">
        Style sheets take sizes, colors and motion from <code>dashboard/styles/tokens.css</code>. Each idea has one
        component.
      </p>
      <Part title="Color">
        {[...plainColours, ...badgeColours, 'grey-bg'].map((name) => (
          <div key={name} className="design-colour">
            <span style={{ background: `var(--${name})` }} />
            <code>{name}</code>
          </div>
        ))}
      </Part>
      <Part title="Type">
        {sizes.map((size) => (
          <span key={size} style={{ fontSize: `var(--text-${size})` }}>
            text-{size}
          </span>
        ))}
        <code>mono 0123</code>
      </Part>
      <Part title="Space and radius">
        {spaces.map((space) => (
          <span
            key={space}
            className="design-space"
            style={{ width: `var(--space-${space})` }}
            title={`space-${space}`}
          />
        ))}
        {radii.map((radius) => (
          <span
            key={radius}
            className="design-radius"
            style={{ borderRadius: `var(--radius-${radius})` }}
            title={`radius-${radius}`}
          />
        ))}
      </Part>
      <Part title="Buttons">
        <Button className="button button-primary">Primary</Button>
        <Button className="button">Plain</Button>
        <Button className="button button-quiet">Quiet</Button>
        <Button className="button" isDisabled>
          Disabled
        </Button>
        <Confirm
          label="Dangerous"
          what="Do it"
          title="Do it?"
          text="An irreversible action asks first."
          act={() => Promise.resolve()}
          onDone={() => undefined}
        />
        <div className="segments" role="group" aria-label="Segments">
          <Button className="segment" aria-pressed>
            chosen <span className="segment-count">12</span>
          </Button>
          <Button className="segment" aria-pressed={false}>
            other <span className="segment-count">1,000+</span>
          </Button>
        </div>
        <kbd>Ctrl K</kbd>
      </Part>
      <Part title="Fields">
        <Field label="Text" value={text} onChange={setText} hint="A hint." placeholder="A placeholder" />
        <Field label="Code" value={text} onChange={setText} isCode rows={2} />
        <Choice
          label="Choice"
          value={choice}
          options={[
            ['one', 'One'],
            ['two', 'Two'],
          ]}
          onChange={setChoice}
        />
        <Several label="Several" options={['one', 'two']} chosen={several} onChange={setSeveral} />
        <Check label="Check" value={isOn} onChange={setOn} />
        <Problem error={new Error('What is wrong, then what to do.')} />
      </Part>
      <Part title="Badges and states">
        {(['queued', 'running', 'waiting'] as const).map((phase) => (
          <StatusBadge key={phase} job={jobOf('active', phase)} />
        ))}
        {(['completed', 'failed', 'archived'] as const).map((status) => (
          <StatusBadge key={status} job={jobOf(status, null)} />
        ))}
        {(['open', 'closed', 'merged'] as const).map((state) => (
          <PullRequestBadge key={state} state={state} />
        ))}
        <PullRequestBadge state="open" draft />
        {(['connecting', 'live', 'lost', 'ended'] as const).map((connection) => (
          <LiveDot key={connection} connection={connection} />
        ))}
        <Ago date={hours[0] ?? ''} />
      </Part>
      <Part title="Notes" isStacked>
        <ErrorNote title="What failed" message="Why, and what to do." onRetry={() => undefined} />
        <section className="note note-warn">
          <h2>A warning</h2>
        </section>
        <section className="note note-good">
          <h2>A success</h2>
        </section>
        <EmptyNote title="Nothing here yet">
          <p>How to fill it.</p>
        </EmptyNote>
      </Part>
      <Part title="Loading" isStacked>
        <Loading />
      </Part>
      <Part title="Table" isStacked>
        <Table name="A table" columns={['Name', 'Value']}>
          <tr>
            <td>one</td>
            <td>1</td>
          </tr>
        </Table>
      </Part>
      <Part title="Plot" isStacked>
        <Plot title="A plot" times={hours} series={series} format={String} />
        <EmptyPlots titles={['an empty plot']} />
      </Part>
      <Part title="Markdown" isStacked>
        <Markdown text={'A **bold** word, `code` and a [link](https://example.com).\n\n- a list'} />
      </Part>
    </>
  );
}

function Part({ title, isStacked = false, children }: { title: string; isStacked?: boolean; children: ReactNode }) {
  return (
    <section aria-label={title} className="design-part">
      <h2>{title}</h2>
      <div className={isStacked ? undefined : 'design-row'}>{children}</div>
    </section>
  );
}

function jobOf(status: Job['status'], phase: Job['details']['phase']): Pick<Job, 'status' | 'details'> {
  const input = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, freshInputTokens: 0 };
  const usage = { ...input, outputTokens: 0, costUsd: 0 };
  const none = {
    title: null,
    message: null,
    plan: null,
    waiting: null,
    incomplete: null,
    check: null,
    failure: null,
    forkedFrom: null,
    models: [],
    reasoningEffort: null,
    maxOutputTokens: null,
  };
  return { status, details: { ...none, phase, steps: 0, usage, pullRequest: null } };
}
