import { createContext, use, useState } from 'react';

/** Open states in a list that renders only its visible part. An item is open again when it scrolls back into view. */
export const KeptStates = createContext(new Map<string, boolean>());

/** Works like `useState`, but the surrounding list stores the value under a name. Null until it is set. */
export function useKeptState(name: string): [boolean | null, (value: boolean) => void] {
  const kept = use(KeptStates);
  const [value, setValue] = useState(kept.get(name) ?? null);
  const set = (next: boolean) => {
    kept.set(name, next);
    setValue(next);
  };
  return [value, set];
}
