import { useCallback, useState } from 'react';

/** Unsent input by form. It outlives the form and a reload, until it is sent or the user signs out. */
const storageKey = 'docket-drafts';

function readDrafts(): Record<string, object> {
  return JSON.parse(sessionStorage.getItem(storageKey) ?? '{}');
}

function keepDraft(name: string, draft: object | undefined): void {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify({ ...readDrafts(), [name]: draft }));
  } catch {
    // a full storage costs the draft after a reload, not what the form holds
  }
}

interface Draft<Fields> {
  values: Fields;
  change(changed: Partial<Fields>): void;
  /** Call this once the values are sent. */
  forget(): void;
}

/** Works like `useState` for the fields of a form, but keeps what was typed. `given` replaces it. */
export function useDraft<Fields extends object>(
  name: string,
  initial: Fields,
  given?: Partial<NoInfer<Fields>>,
): Draft<Fields> {
  const [values, setValues] = useState<Fields>(() => ({ ...initial, ...(given ?? readDrafts()[name]) }));
  const change = useCallback(
    (changed: Partial<Fields>) =>
      setValues((before) => {
        const next = { ...before, ...changed };
        keepDraft(name, next);
        return next;
      }),
    [name],
  );
  return {
    values,
    change,
    forget() {
      keepDraft(name, undefined);
      setValues(initial);
    },
  };
}

/** Forgets what was typed, because another user may sign in. */
export function forgetDrafts(): void {
  sessionStorage.removeItem(storageKey);
}
