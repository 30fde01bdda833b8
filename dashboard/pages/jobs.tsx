import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Button, Input, Label, SearchField } from 'react-aria-components';
import { messageOf } from '../http/client.ts';
import { EmptyNote, ErrorNote, Loading } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { readFilters, statuses, type JobFilters } from '../jobs/filters.ts';
import { jobListQuery, useLiveJobs } from '../jobs/job-list.ts';
import { NoWorker } from '../jobs/no-worker.tsx';
import { JobRows } from '../jobs/job-rows.tsx';
import { LiveDot } from '../components/live-dot.tsx';

/** Shows all jobs of the organization, live. The filters are in the address. */
export function JobsPage() {
  const filters = useSearch({ from: '/jobs' });
  const list = useInfiniteQuery(jobListQuery(filters));
  const connection = useLiveJobs(filters);
  const jobs = useMemo(() => list.data?.pages.flatMap((page) => page.jobs) ?? [], [list.data]);
  useEffect(() => {
    document.title = 'Jobs · Docket';
  }, []);
  return (
    <>
      <div className="page-head">
        <h1>Jobs</h1>
        <LiveDot connection={connection} />
      </div>
      <Filters filters={filters} />
      <NoWorker isQueued={jobs.some(({ details }) => details.phase === 'queued')} />
      {list.isError && <ErrorNote title="Jobs could not be loaded" message={messageOf(list.error)} />}
      {list.isPending && <Loading />}
      {list.isSuccess && jobs.length === 0 && <NoJobs filters={filters} />}
      {jobs.length > 0 && (
        <JobRows
          jobs={jobs}
          hasMore={list.hasNextPage}
          isFetching={list.isFetching}
          onMore={() => void list.fetchNextPage()}
        />
      )}
    </>
  );
}

function NoJobs({ filters }: { filters: JobFilters }) {
  if (Object.keys(filters).length > 0) {
    return (
      <EmptyNote title="No jobs match these filters">
        <Link to="/jobs" className="button">
          Show all jobs
        </Link>
      </EmptyNote>
    );
  }
  return (
    <EmptyNote title="No jobs yet">
      <p>Describe a change to a repository. An agent makes it and opens a pull request.</p>
      <Link to="/new" className="button button-primary">
        Create the first job
      </Link>
    </EmptyNote>
  );
}

function Filters({ filters }: { filters: JobFilters }) {
  const { projects } = useSession();
  const navigate = useNavigate({ from: '/jobs' });
  const { q = '' } = filters;
  const [text, setText] = useState(q);
  const searched = useRef(q);
  const set = (change: { [Name in keyof JobFilters]?: JobFilters[Name] | undefined }) =>
    void navigate({ to: '/jobs', search: (current) => readFilters({ ...current, ...change }), replace: true });
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
      set({ q: text.trim() || undefined });
    }, 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="filters" role="search">
      <div className="segments" role="group" aria-label="Status">
        {[undefined, ...statuses].map((status) => (
          <Button
            key={status ?? 'all'}
            className="segment"
            aria-pressed={filters.status === status}
            onPress={() => set({ status })}
          >
            {status ?? 'all'}
          </Button>
        ))}
      </div>
      {projects.length > 1 && (
        <label className="inline-field">
          <span>Project</span>
          <select value={filters.project ?? ''} onChange={({ target }) => set({ project: target.value || undefined })}>
            <option value="">all</option>
            {projects.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <SearchField className="search" value={text} onChange={setText}>
        <Label className="visually-hidden">Search jobs</Label>
        <Input className="input" placeholder="Search prompts, titles, repositories…" />
      </SearchField>
    </div>
  );
}
