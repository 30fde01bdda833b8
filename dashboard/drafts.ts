import { useCallback, useRef, useState } from 'react';

/** Unsent input by form. It outlives the form and a reload, until it is sent or the user signs out. */
const storageKey = 'docket-drafts';

/** Fields that are lost with their form, because no storage may hold them. */
const secrets = new Set(['forgeToken', 'authorization', 'env', 'captchaSecret', 'slackUrl']);

function readDrafts(): Record<string, object> {
  return JSON.parse(sessionStorage.getItem(storageKey) ?? '{}');
}

function keepDraft(name: string, draft: object | undefined): void {
  try {
    const drafts = { ...readDrafts(), [name]: draft };
    const withoutSecrets = (field: string, value: unknown) => (secrets.has(field) ? undefined : value);
    sessionStorage.setItem(storageKey, JSON.stringify(drafts, withoutSecrets));
  } catch {
    // a full storage costs the draft after a reload, not what the form holds
  }
}

export interface Draft<Fields> {
  values: Fields;
  /** Whether the values are not the initial ones. */
  isChanged: boolean;
  change(changed: Partial<Fields>): void;
  forget(): void;
  /** Runs a request that saves the values, then forgets them. What is typed meanwhile is kept. */
  send(request: () => Promise<unknown>): Promise<void>;
}

/**
 * Works like `useState` for the fields of a form, but keeps what was typed; the other fields follow `initial`. `given`
 * replaces what was typed.
 */
export function useDraft<Fields extends object>(
  name: string,
  initial: Fields,
  given?: Partial<NoInfer<Fields>>,
): Draft<Fields> {
  const [typed, setTyped] = useState<Partial<Fields>>(() => ({ ...(given ?? readDrafts()[name]) }));
  /** Up to date even when the form is gone before its request ends. */
  const latest = useRef(typed);
  const keep = useCallback(
    (next: Partial<Fields>) => {
      latest.current = next;
      keepDraft(name, Object.keys(next).length === 0 ? undefined : next);
      setTyped(next);
    },
    [name],
  );
  const change = useCallback((changed: Partial<Fields>) => keep({ ...latest.current, ...changed }), [keep]);
  return {
    values: { ...initial, ...typed },
    isChanged: Object.entries(typed).some(([field, value]) => value !== Reflect.get(initial, field)),
    change,
    forget: () => keep({}),
    async send(request) {
      const sent = latest.current;
      await request();
      const left = { ...latest.current };
      for (const field in left) if (left[field] === sent[field]) delete left[field];
      keep(left);
    },
  };
}

/** Reports whether something was typed into a form and not sent. */
export function hasDraft(name: string): boolean {
  return readDrafts()[name] !== undefined;
}

/** Forgets what was typed, because another user may sign in. */
export function forgetDrafts(): void {
  sessionStorage.removeItem(storageKey);
}
