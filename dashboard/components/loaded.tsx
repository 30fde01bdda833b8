import type { ReactNode } from 'react';
import { messageOf } from '../http/client.ts';
import { ErrorNote, Loading } from './notes.tsx';

interface LoadedProps<T> {
  query: { data: T | undefined; error: unknown; isError: boolean };
  /** What is said above the reason when it could not be read. */
  problem: string;
  children(data: T): ReactNode;
}

/** What a query answered, once it has; what was read before stays while it cannot be read anew. */
export function Loaded<T>({ query, problem, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorNote title={problem} message={messageOf(query.error)} />;
  return <Loading />;
}
