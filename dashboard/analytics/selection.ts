/** Selected part of the analytics. */
export interface Selection {
  site: string;
  days: number;
  version?: string | undefined;
  language?: string | undefined;
}
