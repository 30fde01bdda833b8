/** Returns the row of a statement that always returns one. */
export function onlyRow<Row>(rows: Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('A statement that always returns a row returned none.');
  return row;
}
