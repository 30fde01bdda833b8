import type { ReactNode } from 'react';
import { isMissing, messageOf } from '../http/client.ts';
import { ErrorNote, Loading } from './notes.tsx';

interface LoadedProps<T> {
  query: { data: T | undefined; error: unknown; isError: boolean; refetch(): unknown };
  /** Title shown above the error. */
  problem: string;
  /** Leads away from a page that cannot be shown. */
  back?: ReactNode;
  children(data: T): ReactNode;
}

/** Renders the data of a query once it has loaded. Earlier data stays visible when a refetch fails. */
export function Loaded<T>({ query, problem, back, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError)
    return (
      <ErrorNote
        title={problem}
        message={messageOf(query.error)}
        onRetry={isMissing(query.error) ? undefined : () => void query.refetch()}
      >
        {back}
      </ErrorNote>
    );
  return <Loading />;
}
