import { useState, type ReactNode } from 'react';
import { Input, Label, SearchField } from 'react-aria-components';
import { count } from '../format.ts';

/** Number of items that a page shows without delay. */
const maxShown = 100;

interface LongListProps<Item> {
  /** Oldest first. */
  items: Item[];
  /** Names the items, such as "keys". */
  what: string;
  /** Returns what the search looks for. */
  textOf(item: Item): string;
  children(shown: Item[]): ReactNode;
}

/** Shows all items of a list, or the newest of a long one with a search that finds the others. */
export function LongList<Item>({ items, what, textOf, children }: LongListProps<Item>) {
  const [words, setWords] = useState('');
  if (items.length <= maxShown) return children(items);
  const found = items.filter((item) => textOf(item).toLowerCase().includes(words.trim().toLowerCase()));
  return (
    <>
      <SearchField className="search" value={words} onChange={setWords}>
        <Label className="visually-hidden">Search {what}</Label>
        <Input className="input" placeholder={`Search ${count(items.length)} ${what}`} />
      </SearchField>
      <p className="hint" role="status">
        {found.length > maxShown
          ? `Shows the newest ${count(maxShown)} of ${count(found.length)}.`
          : `${count(found.length)} found.`}
      </p>
      {children(found.slice(-maxShown))}
    </>
  );
}
