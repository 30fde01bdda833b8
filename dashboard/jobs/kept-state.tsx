import { createContext, use, useState } from 'react';

/** What is open in a list of which only the part in sight exists: it is open again when it comes back. */
export const KeptStates = createContext(new Map<string, boolean>());

/** As `useState(false)`, kept under a name by the list around it. */
export function useKeptState(name: string): [boolean, (value: boolean) => void] {
  const kept = use(KeptStates);
  const [value, setValue] = useState(kept.get(name) ?? false);
  const set = (next: boolean) => {
    kept.set(name, next);
    setValue(next);
  };
  return [value, set];
}
