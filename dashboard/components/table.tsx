import type { ReactNode } from 'react';

interface TableProps {
  /** What it is a table of. */
  name: string;
  columns: string[];
  /** Whether each row ends in buttons; their column has no heading to be seen. */
  hasActions?: boolean;
  /** The rows. */
  children: ReactNode;
}

/** A table that scrolls by itself where it is wider than the page. */
export function Table({ name, columns, hasActions = false, children }: TableProps) {
  return (
    <div className="table-scroll" tabIndex={0} role="group" aria-label={name}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
            {hasActions && (
              <th>
                <span className="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
