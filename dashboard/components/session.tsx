import { createContext, use } from 'react';
import type { Session } from '../http/types.ts';

export const SessionContext = createContext<Session | null>(null);

/** Returns the current session. Only pages that require sign-in may call it. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('Not signed in.');
  return session;
}
