import { useState, type ReactNode } from 'react';
import { ApiProblem, isMissing, messageOf } from '../http/client.ts';
import { useLatch } from '../use-latch.ts';
import { ErrorNote, Loading } from './notes.tsx';

interface LoadedProps<T> {
  query: {
    data: T | undefined;
    error: unknown;
    isError: boolean;
    /** Whether the data is old, because it could not be read again. */
    isRefetchError: boolean;
    refetch(): unknown;
  };
  /** Title shown above the error. */
  problem: string;
  /** Leads away from a page that cannot be shown. */
  back?: ReactNode;
  children(data: T): ReactNode;
}

/** Renders the data of a query once it has loaded. Earlier data stays visible when a refetch fails, and says so. */
export function Loaded<T>({ query, problem, back, children }: LoadedProps<T>) {
  const { data, error, isError, isRefetchError, refetch } = query;
  // stays during periodic retries, or it would disappear every few seconds
  const [failure, setFailure] = useState<unknown>(null);
  if (isError && error !== failure) setFailure(error);
  if (data !== undefined)
    return (
      <>
        {/* a server that cannot be reached says so for all of the page */}
        {isRefetchError && error instanceof ApiProblem && (
          <p className="field-error" role="status">
            Not up to date: {messageOf(error)}
          </p>
        )}
        {children(data)}
      </>
    );
  if (failure === null) return <Loading />;
  const retry = () => {
    setFailure(null);
    void refetch();
  };
  return (
    <ErrorNote title={problem} message={messageOf(failure)} onRetry={isMissing(failure) ? undefined : retry}>
      {back}
    </ErrorNote>
  );
}

/** Shows its children once each of the queries has loaded or failed, so that the parts of a page appear together. */
export function Settled({ queries, children }: { queries: { isPending: boolean }[]; children: ReactNode }) {
  return useLatch(queries.every(({ isPending }) => !isPending)) ? children : <Loading lines={8} />;
}
