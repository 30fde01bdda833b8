import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { Choice } from '../../components/choice.tsx';
import { useSession } from '../../components/session.tsx';
import { count } from '../../format.ts';
import { headline, plain } from '../../plain.ts';
import { ageNames, readFilters, states, type JobFilters } from './filters.ts';
import { jobCountsQuery } from './job-list.ts';

type Change = { [Name in keyof JobFilters]?: JobFilters[Name] | undefined };

/** Returns a function that changes filters in the address of the list. */
export function useSetFilters(): (change: Change) => void {
  const navigate = useNavigate({ from: '/jobs' });
  return (change) =>
    void navigate({ to: '/jobs', search: (current) => readFilters({ ...current, ...change }), replace: true });
}

interface FiltersProps {
  filters: JobFilters;
  models: string[];
  people: string[];
  /** Categories of failures that are known from listed jobs, with their titles. */
  failures: ReadonlyMap<string, string>;
}

/** Shows the filters of the job list: a tab with a count for each state, menus, and the search. */
export function Filters({ filters, models, people, failures }: FiltersProps) {
  const { projects } = useSession();
  const set = useSetFilters();
  return (
    <>
      <StateTabs filters={filters} />
      <div className="filters" role="search">
        {projects.length > 1 && (
          <Choice
            label="Project"
            isInline
            value={filters.project ?? ''}
            options={[['', 'any'], ...projects.map(({ id, name }) => [id, name] as const)]}
            onChange={(project) => set({ project })}
          />
        )}
        <Choice
          label="Model"
          isInline
          value={filters.model ?? ''}
          options={[['', 'any'], ...models.map((model) => [model, model] as const)]}
          onChange={(model) => set({ model })}
        />
        {people.length > 1 && (
          <Choice
            label="Started by"
            isInline
            value={filters.startedBy ?? ''}
            options={[['', 'anyone'], ...people.map((name) => [name, headline(plain(name), 40)] as const)]}
            onChange={(startedBy) => set({ startedBy })}
          />
        )}
        <Choice
          label="Created"
          isInline
          value={filters.age ?? ''}
          options={[['', 'any time'], ...ageNames.map((age) => [age, `in the last ${age}`] as const)]}
          onChange={(age) => set({ age: age === '' ? undefined : age })}
        />
        <FailureMenu filters={filters} listed={failures} />
        <Search q={filters.q ?? ''} onSearch={(q) => set({ q })} />
      </div>
    </>
  );
}

function useCounts(filters: JobFilters) {
  return useQuery(jobCountsQuery(filters)).data;
}

/** Shows the failures of counted and of listed jobs; the list may go beyond the counted ones. */
function FailureMenu({ filters, listed }: { filters: JobFilters; listed: FiltersProps['failures'] }) {
  const { model, startedBy, q, status, failure: chosen } = filters;
  const set = useSetFilters();
  const counted = (useCounts(filters)?.failures ?? []).filter(({ state }) => status === undefined || state === status);
  // the counts do not follow these filters
  const isCounted = [model, startedBy, q].every((filter) => filter === undefined);
  const titles = new Map([...listed, ...counted.map(({ category, title }) => [category, title] as const)]);
  if (titles.size === 0) return null;
  const options = [...titles].map(([category, title]) => {
    const found = isCounted ? counted.filter((one) => one.category === category) : [];
    return [category, found.length === 0 ? title : `${title} (${countOf(sumOf(found))})`] as const;
  });
  return (
    <Choice
      label="Failure"
      isInline
      value={chosen ?? ''}
      options={[['', 'any'], ...options.sort(([, a], [, b]) => a.localeCompare(b))]}
      onChange={(failure) => set({ failure })}
    />
  );
}

interface Counted {
  count: number;
  isLowerBound: boolean;
}

function sumOf(counts: Counted[]): Counted {
  return {
    count: counts.reduce((sum, one) => sum + one.count, 0),
    isLowerBound: counts.some(({ isLowerBound }) => isLowerBound),
  };
}

function countOf(counted: Counted): string {
  return `${count(counted.count)}${counted.isLowerBound ? '+' : ''}`;
}

function StateTabs({ filters }: { filters: JobFilters }) {
  const { model, failure, startedBy, q, status: chosen } = filters;
  const set = useSetFilters();
  const data = useCounts(filters);
  // the counts do not follow these filters
  const isCounted = [model, failure, startedBy, q].every((filter) => filter === undefined);
  const counts = isCounted ? (data?.counts ?? []) : [];
  return (
    <div className="segments state-tabs" role="group" aria-label="Status">
      {[undefined, ...states].map((state) => {
        const shown = state === undefined ? sumOf(counts) : counts.find((one) => one.state === state);
        return (
          <Button
            key={state ?? 'all'}
            className="segment"
            aria-pressed={chosen === state}
            onPress={() => set({ status: state })}
          >
            {state ?? 'all'}
            {counts.length > 0 && shown !== undefined && <span className="segment-count">{` ${countOf(shown)}`}</span>}
          </Button>
        );
      })}
    </div>
  );
}

function Search({ q, onSearch }: { q: string; onSearch(q: string | undefined): void }) {
  const [text, setText] = useState(q);
  const searched = useRef(q);
  useEffect(() => {
    // a link has changed the search
    if (q === searched.current) return;
    searched.current = q;
    setText(q);
  }, [q]);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text.trim() === searched.current) return;
      searched.current = text.trim();
      onSearch(text.trim() || undefined);
    }, 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      className="input search"
      aria-label="Search jobs"
      placeholder="Search prompts, titles, repositories…"
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  );
}
