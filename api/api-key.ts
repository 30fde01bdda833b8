/** Who a request acts for. */
export interface ApiKey {
  id: string;
  organizationId: string;
  kind: 'admin' | 'assistant';
  /** The session of the dashboard that stands for the key. */
  sessionId?: string;
}
