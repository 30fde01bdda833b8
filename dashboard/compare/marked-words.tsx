import { diffWordsWithSpace, type ChangeObject } from 'diff';
import { useMemo } from 'react';
import { plain } from '../plain.ts';

const maxMs = 50;

interface MarkedWordsProps {
  left: string;
  right: string;
  side: 'left' | 'right';
}

/** Shows one of two texts, and in it the words that the other one lacks. Texts too different to compare have no marks. */
export function MarkedWords({ left, right, side }: MarkedWordsProps) {
  const parts = useMemo(
    (): Pick<ChangeObject<string>, 'value' | 'added' | 'removed'>[] =>
      diffWordsWithSpace(left, right, { timeout: maxMs }) ?? [
        { value: side === 'left' ? left : right, added: false, removed: false },
      ],
    [left, right, side],
  );
  return (
    <div className="compared-words" tabIndex={0} role="group" aria-label={side === 'left' ? 'Left' : 'Right'}>
      {parts.map(({ value, added, removed }, index) => {
        if (side === 'left' ? added : removed) return null;
        if (!added && !removed) return plain(value);
        const Mark = added ? 'ins' : 'del';
        return <Mark key={index}>{plain(value)}</Mark>;
      })}
    </div>
  );
}
