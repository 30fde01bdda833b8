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
      <table ref={nameCells} className="table">
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

/** Names each cell after its column, for the style sheet, which shows the names in the cards. Rows may come later. */
function nameCells(table: HTMLTableElement): () => void {
  const name = () => {
    const headings = [...(table.tHead?.rows[0]?.cells ?? [])].map(({ textContent }) => textContent);
    for (const { rows } of table.tBodies)
      for (const { cells } of rows)
        for (const [index, cell] of [...cells].entries()) cell.dataset['column'] = headings[index] ?? '';
  };
  name();
  const observer = new MutationObserver(name);
  observer.observe(table, { childList: true, subtree: true });
  return () => observer.disconnect();
}
