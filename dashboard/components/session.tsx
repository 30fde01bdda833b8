import { createContext, use } from 'react';
import type { Session } from '../http/types.ts';

export const SessionContext = createContext<Session | null>(null);

/** Who is signed in. Only pages behind the sign-in ask. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('Not signed in.');
  return session;
}
