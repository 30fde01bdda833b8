import type { ReactNode } from 'react';

/** Shows an error and what to do about it. */
export function ErrorNote({ title, message, children }: { title: string; message: string; children?: ReactNode }) {
  return (
    <section className="note note-error" role="alert">
      <h2>{title}</h2>
      <p>{message}</p>
      {children}
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

/** Shows that something is loading. */
export function Loading({ what = 'Loading…' }: { what?: string }) {
  return (
    <p className="loading" role="status">
      {what}
    </p>
  );
}
