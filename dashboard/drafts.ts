import { useState } from 'react';

/**
 * Texts that were typed and not sent, by form and field. They stay in memory when the form closes, as it does when the
 * session ends, until they are sent or the user signs out.
 */
const drafts = new Map<string, Record<string, string>>();

interface Draft<Fields> {
  values: Fields;
  change(changed: Partial<Fields>): void;
  /** Call this once the values are sent. */
  forget(): void;
}

/** Works like `useState` for the fields of a form, but keeps what was typed. `given` replaces it. */
export function useDraft<Fields extends Record<string, string>>(
  name: string,
  initial: Fields,
  given?: Partial<Fields>,
): Draft<Fields> {
  const [values, setValues] = useState<Fields>(() => ({ ...initial, ...(given ?? drafts.get(name)) }));
  return {
    values,
    change(changed) {
      const next = { ...values, ...changed };
      drafts.set(name, next);
      setValues(next);
    },
    forget() {
      drafts.delete(name);
      setValues(initial);
    },
  };
}

/** Forgets what was typed, because another user may sign in. */
export function forgetDrafts(): void {
  drafts.clear();
}
