import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { cost, count } from '../format.ts';
import type { Analytics } from '../http/types.ts';
import { headline, plain } from '../plain.ts';
import type { Selection } from './selection.ts';

interface SectionProps {
  analytics: Analytics;
  selection: Selection;
}

const kinds = [
  ['topics', 'Topics', 'Section', 'topic'],
  ['versions', 'Versions', 'Version', 'version'],
  ['languages', 'Languages', 'Language', 'language'],
] as const;

/** Shows the figures by section, version and language. A language or version that is the only one is left out. */
export function Breakdowns({ analytics, selection }: SectionProps) {
  return kinds.map(([list, title, column, field]) => {
    const rows = analytics[list];
    if (rows.length === 0 || (list !== 'topics' && rows.length === 1)) return null;
    return (
      <section key={list}>
        <SectionHead title={title} table={list} selection={selection} />
        <Table name={title} columns={[column, 'Questions', 'Answered', 'Unanswered', 'Up', 'Down', 'Cost']}>
          {rows.map(({ name, questions, answered, unanswered, up, down, costUsd }) => (
            <tr key={name ?? ''}>
              <td>
                <ConversationsLink analytics={analytics} selection={{ ...selection, [field]: name ?? '' }}>
                  {name === null ? 'none' : plain(name)}
                </ConversationsLink>
              </td>
              <td>{count(questions)}</td>
              <td>{count(answered)}</td>
              <td>{count(unanswered)}</td>
              <td>{count(up)}</td>
              <td>{count(down)}</td>
              <td>{cost(costUsd)}</td>
            </tr>
          ))}
        </Table>
      </section>
    );
  });
}

/** Shows the pages that answers cite and that readers open. */
export function Pages({ analytics, selection }: SectionProps) {
  const lists = [
    ['cited', 'Most cited pages', analytics.cited],
    ['opened', 'Most opened pages', analytics.opened],
  ] as const;
  return lists.map(([list, title, pages]) => (
    <section key={list}>
      <SectionHead title={title} table={list} selection={selection} />
      {pages.length === 0 && <p className="quiet">None.</p>}
      {pages.length > 0 && (
        <Table name={title} columns={['Page', 'Cited', 'Opened']}>
          {pages.map(({ path, cited, opened }) => (
            <tr key={path}>
              <td>
                <Link to="/playground/page" search={{ site: selection.site, path }}>
                  {plain(path)}
                </Link>
              </td>
              <td>
                <ConversationsLink analytics={analytics} selection={{ ...selection, page: path }}>
                  {count(cited)} <span className="visually-hidden">conversations that cite {plain(path)}</span>
                </ConversationsLink>
              </td>
              <td>{count(opened)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  ));
}

/** Shows the gaps, which name the pages that the documentation lacks. */
export function Missing({ analytics: { gaps }, selection }: SectionProps) {
  return (
    <section>
      <SectionHead title="Missing pages" table="gaps" selection={selection} />
      {gaps.length === 0 && <p className="quiet">No gaps in this period.</p>}
      {gaps.length > 0 && (
        <Table name="Missing pages" columns={['Question', 'Asked', 'Last', 'State']}>
          {gaps.map(({ id, label, count: times, lastAskedAt, state }) => (
            <tr key={id}>
              <td>
                <Link to="/gaps" search={{ site: selection.site }}>
                  {headline(plain(label), 200)}
                </Link>
              </td>
              <td>{count(times)}</td>
              <td>{lastAskedAt !== null && <Ago date={lastAskedAt} />}</td>
              <td>{state}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

interface SectionHeadProps {
  title: string;
  table: 'topics' | 'versions' | 'languages' | 'cited' | 'opened' | 'gaps';
  selection: Selection;
}

function SectionHead({ title, table, selection: { site, days, version, language } }: SectionHeadProps) {
  const query = new URLSearchParams({
    table,
    days: String(days),
    ...(version !== undefined && { version }),
    ...(language !== undefined && { language }),
  });
  return (
    <div className="page-head section-head">
      <h2>{title}</h2>
      <a href={`/v1/sites/${encodeURIComponent(site)}/analytics/csv?${query.toString()}`} download>
        Download CSV <span className="visually-hidden">of {title}</span>
      </a>
    </div>
  );
}

interface ConversationsLinkProps {
  analytics: Analytics;
  selection: Selection & { topic?: string; page?: string };
  children: ReactNode;
}

function ConversationsLink({ analytics: { from }, selection, children }: ConversationsLinkProps) {
  const { days: _, ...filters } = selection;
  return (
    <Link to="/conversations" search={{ ...filters, since: from }}>
      {children}
    </Link>
  );
}
