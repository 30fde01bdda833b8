import type { ReactNode } from 'react';

/** Something went wrong: what, and what to do. */
export function ErrorNote({ title, message, children }: { title: string; message: string; children?: ReactNode }) {
  return (
    <section className="note note-error" role="alert">
      <h2>{title}</h2>
      <p>{message}</p>
      {children}
    </section>
  );
}

/** There is nothing here yet, and what would make it otherwise. */
export function EmptyNote({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className="note note-empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Shown while something is on its way. */
export function Loading({ what = 'Loading…' }: { what?: string }) {
  return (
    <p className="loading" role="status">
      {what}
    </p>
  );
}
