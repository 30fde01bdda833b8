import type { ReactNode } from 'react';

interface TableProps {
  /** Accessible name of the table. */
  name: string;
  columns: string[];
  /** True if each row ends in buttons. Their column has no visible heading. */
  hasActions?: boolean;
  children: ReactNode;
}

/** Shows a table that scrolls horizontally when it is wider than the page. */
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
