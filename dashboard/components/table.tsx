import type { ReactNode } from 'react';

interface TableProps {
  /** Accessible name of the table. */
  name: string;
  columns: string[];
  /** True if each row ends in buttons. Their column has no visible heading. */
  hasActions?: boolean;
  children: ReactNode;
}

/** Shows a table; on a narrow screen, each row is a card that names its values. A wider one scrolls horizontally. */
export function Table({ name, columns, hasActions = false, children }: TableProps) {
  return (
    <div className="table-scroll" tabIndex={0} role="group" aria-label={name}>
      <table className="table" style={labelsOf(columns)}>
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

/** Returns the headings as custom properties for the style sheet, which shows them in the cards. */
function labelsOf(columns: string[]): Record<`--column-${number}`, string> {
  return Object.fromEntries(columns.map((column, index) => [`--column-${index + 1}`, JSON.stringify(column)]));
}
