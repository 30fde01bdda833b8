import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';

interface ErrorNoteProps {
  title: string;
  message: string;
  /** Tries again what failed. */
  onRetry?: () => void;
  children?: ReactNode;
}

/** Shows an error and what to do about it. */
export function ErrorNote({ title, message, onRetry, children }: ErrorNoteProps) {
  return (
    <section className="note note-error" role="alert">
      <h2>{title}</h2>
      <p>{message}</p>
      <div className="actions">
        {onRetry !== undefined && (
          <Button className="button" onPress={onRetry}>
            Retry
          </Button>
        )}
        {children}
      </div>
    </section>
  );
}

/** Shows that a list is empty and how to fill it. */
export function EmptyNote({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className="note note-empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Shows that something is loading: the outline of some lines of text. */
export function Loading({ what = 'Loading…', lines = 3 }: { what?: string; lines?: number }) {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">{what}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className="skeleton" aria-hidden="true" />
      ))}
    </div>
  );
}
