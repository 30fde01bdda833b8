import { createContext, use, type ReactNode } from 'react';
import type { Session } from '../http/types.ts';

export type Role = Session['role'];

/** Each role may also do what those after it may. */
export const roles = ['admin', 'member', 'viewer'] as const satisfies Role[];

export const SessionContext = createContext<Session | null>(null);

/** Returns the current session. Only pages that require sign-in may call it. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('Not signed in.');
  return session;
}

/** Reports whether the owner of a session may do what needs a role. */
export function may(session: Pick<Session, 'role'>, role: Role): boolean {
  return roles.indexOf(session.role) <= roles.indexOf(role);
}

/** Reports whether the signed-in user may do what needs a role. */
export function useMay(role: Role): boolean {
  return may(useSession(), role);
}

/** Shows its children only to those who may use them. */
export function Only({ role, children }: { role: Role; children: ReactNode }) {
  return useMay(role) ? children : null;
}
